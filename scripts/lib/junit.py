"""Reads a report in JUnit's form, of ctest or pytest: a line "passed N", a line "skipped N", and a line
for each test that failed, with its name.

usage: junit.py REPORT      exit code 1 if it has no tests"""

import sys
import xml.etree.ElementTree as xml

passed, skipped, failed = 0, 0, []
for case in xml.parse(sys.argv[1]).iter("testcase"):
    children = {child.tag for child in case}
    if children & {"failure", "error"}:
        group, name = case.get("classname", ""), case.get("name", "")
        failed.append(name if group in ("", name) else f"{group}.{name}")
    elif "skipped" in children or case.get("status") in ("notrun", "disabled"):
        skipped += 1
    else:
        passed += 1
print(f"passed {passed}\nskipped {skipped}", *(" ".join(name.split()) for name in failed), sep="\n")
sys.exit(0 if passed or skipped or failed else 1)
