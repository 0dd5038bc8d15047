from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.python import PythonExtension, PythonPipBuilder

from spack.package import *


class Heddle(CMakePackage, CudaPackage, PythonExtension):
    """Block eigensolvers (LOBPCG, block Lanczos) and block conjugate gradients for large sparse
    symmetric problems, on CPUs and NVIDIA GPUs.

    The recipe builds the sources that it stands in, with Spack 1.0 or later:

        spack repo add packaging/spack/spack_repo/heddle
        spack dev-build heddle@0.1.0 +mpi +metis +python
    """

    license("BSD-3-Clause")

    version("0.1.0")

    variant("shared", default=True, description="Build shared libraries")
    variant("apps", default=True, description="Build the executables")
    variant("mpi", default=False, description="Several processes")
    variant("nccl", default=False, when="+cuda", description="Several GPUs")
    variant("metis", default=False, description="Partitions and orders of graphs by METIS")
    variant("mumps", default=False, description="Factorisations of indefinite matrices by MUMPS")
    variant("cholmod", default=False, description="Sparse factorisations by CHOLMOD (GPL)")
    variant("python", default=False, description="The Python package")

    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("eigen@3.4:3", type="build")
    depends_on("fmt@9:")
    depends_on("zlib-api")
    depends_on("cuda@12:", when="+cuda")
    depends_on("metis@5:", when="+metis")
    depends_on("mpi", when="+mpi")
    depends_on("nccl@2.18:", when="+nccl")
    depends_on("suite-sparse", when="+cholmod")
    depends_on("mumps~mpi+shared", when="+mumps")
    with when("+apps"):
        depends_on("yaml-cpp@0.7:")
        depends_on("spdlog@1.10:")
        depends_on("cli11@2:", type="build")
        depends_on("nlohmann-json@3.10:", type="build")
    with when("+python"):
        extends("python@3.10:", type=("build", "link", "run"))
        depends_on("py-pip", type="build")
        depends_on("py-scikit-build-core@0.10:", type="build")
        depends_on("py-nanobind@2.4:", type="build")
        depends_on("py-numpy@1.22:", type=("build", "run"))
        depends_on("py-scipy@1.8:", type=("build", "run"))

    conflicts("%gcc@:11", msg="heddle is written in C++20 that GCC 12 and later compile")
    conflicts("cuda_arch=none", when="+cuda", msg="name the GPU: cuda_arch=80, 90, ...")

    def cmake_args(self):
        # Spack's compiler wrappers choose the instruction set of the target.
        args = [
            self.define("HEDDLE_NATIVE", False),
            self.define("HEDDLE_INSTALL", True),
            self.define("HEDDLE_BUILD_TESTS", False),
            self.define("CMAKE_INSTALL_LIBDIR", "lib"),
            self.define_from_variant("HEDDLE_BUILD_APPS", "apps"),
            self.define_from_variant("HEDDLE_CHOLMOD", "cholmod"),
            self.define_from_variant("HEDDLE_MUMPS", "mumps"),
            self.define_from_variant("HEDDLE_CUDA", "cuda"),
            self.define_from_variant("HEDDLE_METIS", "metis"),
            self.define_from_variant("HEDDLE_MPI", "mpi"),
            self.define("HEDDLE_NCCL", self.spec.satisfies("+nccl")),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
        ]
        if self.spec.satisfies("+cuda"):
            architectures = ";".join(self.spec.variants["cuda_arch"].value)
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", architectures))
        return args

    @run_after("install")
    def install_python(self):
        if not self.spec.satisfies("+python"):
            return
        defines = {
            "heddle_DIR": f"{self.prefix.lib}/cmake/heddle",
            "CMAKE_INSTALL_RPATH": self.prefix.lib,
        }
        settings = [f"--config-settings=cmake.define.{key}={value}" for key, value in defines.items()]
        with working_dir(self.stage.source_path):
            pip(*PythonPipBuilder.std_args(self), f"--prefix={self.prefix}", *settings, ".")
