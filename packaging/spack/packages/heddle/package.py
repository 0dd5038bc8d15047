from spack.package import *


class Heddle(CMakePackage, CudaPackage):
    """Block eigensolvers (LOBPCG, block Lanczos) and block conjugate gradients for large sparse
    symmetric problems, on CPUs and NVIDIA GPUs.

    The recipe builds the sources that it stands in:

        spack repo add packaging/spack
        spack dev-build heddle@0.1.0
    """

    license("BSD-3-Clause")

    version("0.1.0")

    variant("shared", default=True, description="Build shared libraries")
    variant("apps", default=True, description="Build the executables")
    variant("mumps", default=False, description="Factorisations of indefinite matrices by MUMPS")
    variant("cholmod", default=False, description="Sparse factorisations by CHOLMOD (GPL)")

    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("eigen@3.4", type="build")
    depends_on("fmt@9:")
    depends_on("zlib-api")
    depends_on("suite-sparse", when="+cholmod")
    depends_on("mumps~mpi+shared", when="+mumps")
    with when("+apps"):
        depends_on("yaml-cpp@0.7:")
        depends_on("spdlog@1.10: +fmt_external")
        depends_on("cli11@2:", type="build")
        depends_on("nlohmann-json@3.10:", type="build")
    depends_on("cuda@12:", when="+cuda")

    conflicts("%gcc@:11", msg="heddle is written in C++20 that GCC 12 and later compile")
    conflicts("cuda_arch=none", when="+cuda", msg="name the GPU: cuda_arch=80, 90, ...")

    def cmake_args(self):
        # Spack's compiler wrappers choose the instruction set of the target.
        args = [
            self.define("HEDDLE_NATIVE", False),
            self.define("HEDDLE_INSTALL", True),
            self.define("HEDDLE_BUILD_TESTS", False),
            self.define("HEDDLE_MPI", False),
            self.define_from_variant("HEDDLE_BUILD_APPS", "apps"),
            self.define_from_variant("HEDDLE_CHOLMOD", "cholmod"),
            self.define_from_variant("HEDDLE_MUMPS", "mumps"),
            self.define_from_variant("HEDDLE_CUDA", "cuda"),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
        ]
        if self.spec.satisfies("+cuda"):
            architectures = ";".join(self.spec.variants["cuda_arch"].value)
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", architectures))
        return args
