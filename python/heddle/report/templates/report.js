"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const said = document.getElementById("said");
  let silence = 0;
  const say = (words) => {
    said.textContent = words;
    said.classList.add("on");
    clearTimeout(silence);
    silence = setTimeout(() => said.classList.remove("on"), 1800);
  };

  // Controls that need this script are hidden without it.
  all("form.filters, button[hidden]").forEach((control) => { control.hidden = false; });

  // Sorting. A cell sorts by data-v, a number, else by its text. Empty cells stay last.
  const keyOf = (row, column) => {
    const cell = row.cells[column];
    if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
    const text = cell.textContent.trim();
    return text === "" || text === "–" || cell.classList.contains("n") ? null : text;
  };
  const order = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), "en", { numeric: true });
  };
  const sortBy = (table, column, heading) => {
    const down = heading.getAttribute("aria-sort") === "ascending";
    all("thead th", table).forEach((other) => other.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row, place) => ({ row, place, key: keyOf(row, column) }));
    rows.sort((a, b) => {
      if (a.key === null || b.key === null) return (a.key === null) - (b.key === null) || a.place - b.place;
      return (down ? order(b.key, a.key) : order(a.key, b.key)) || a.place - b.place;
    });
    body.append(...rows.map((entry) => entry.row));
  };
  all("table.sortable").forEach((table) => {
    all("thead th:not([data-unsorted])", table).forEach((heading) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener("click", () => sortBy(table, heading.cellIndex, heading));
    });
  });

  // Filtering. Every word must occur; every choice must equal the row's data of that name.
  all("form.filters").forEach((form) => {
    const target = document.getElementById(form.dataset.filters);
    const rows = target.tBodies ? [...target.tBodies[0].rows] : [...target.children];
    const texts = rows.map((row) => (row.tagName === "DETAILS" ? row.firstElementChild : row).textContent.toLowerCase());
    const output = form.querySelector("output");
    const apply = () => {
      const words = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
      const choices = all("select", form).filter((choice) => choice.value);
      let shown = 0;
      rows.forEach((row, place) => {
        const fits = words.every((word) => texts[place].includes(word)) &&
          choices.every((choice) => row.dataset[choice.name] === choice.value);
        row.hidden = !fits;
        shown += fits;
      });
      output.textContent = shown === rows.length ? `${shown} rows` : `${shown} of ${rows.length} rows`;
    };
    form.addEventListener("input", apply);
    form.addEventListener("change", apply);
    form.addEventListener("submit", (event) => event.preventDefault());
    apply();
  });

  // Pictures of matrices are stored compressed and unpacked when their matrix is opened.
  const unpack = async (holder) => {
    const store = document.getElementById(holder.dataset.picture);
    if (!store || holder.dataset.done || typeof DecompressionStream === "undefined") return;
    holder.dataset.done = "yes";
    const bytes = Uint8Array.from(atob(store.textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    holder.innerHTML = await new Response(stream).text();
  };
  const show = (details) => Promise.all(all("[data-picture]", details).map(unpack));
  all("details.matrix").forEach((details) => {
    details.addEventListener("toggle", () => details.open && show(details));
  });
  const openTarget = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.tagName === "DETAILS") { target.open = true; target.hidden = false; }
  };
  addEventListener("hashchange", openTarget);
  openTarget();
  const opener = document.getElementById("open-all");
  opener.addEventListener("click", () => {
    const open = opener.getAttribute("aria-pressed") !== "true";
    opener.setAttribute("aria-pressed", String(open));
    opener.textContent = open ? "Close all" : "Open all";
    all("main details").forEach((details) => { details.open = open; });
  });
  document.getElementById("print").addEventListener("click", async () => {
    await Promise.all(all("details.matrix[open]").map(show));
    print();
  });

  // Copying the command of a run from the list of all. The older way serves pages from disk in
  // browsers that refuse the newer one.
  const listed = document.querySelector("#commands pre");
  const commands = listed ? listed.textContent.split("\n") : [];
  all("button.copy").forEach((each) => { each.title = "copy the command that runs it again"; });
  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  };
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button.copy");
    if (!button) return;
    const command = commands[Number(button.dataset.line)];
    await copy(command);
    say("copied: " + command);
  });

  // Light, dark, or what the system says.
  const themes = ["system", "light", "dark"];
  const button = document.getElementById("theme");
  const remembered = () => { try { return localStorage.getItem("heddle-theme"); } catch { return null; } };
  const setTheme = (name) => {
    if (name === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    button.textContent = "Theme: " + name;
    try { localStorage.setItem("heddle-theme", name); } catch { /* a page from disk may have no store */ }
  };
  let theme = themes.includes(remembered()) ? remembered() : "system";
  setTheme(theme);
  button.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    setTheme(theme);
  });
})();
