# The formula of our tap. `packaging/build_formula.py SDIST` writes the digest of a release into it.
class Polymnia < Formula
  include Language::Python::Virtualenv

  desc "One memory for AI agents, spoken in every dialect they already know"
  homepage "https://github.com/polymnia/polymnia"
  url "https://github.com/polymnia/polymnia/releases/download/v0.1.0/polymnia-0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "MIT"

  depends_on "python@3.13"

  # The libraries come as wheels: onnxruntime has no source distribution that builds here.
  def install
    virtualenv_create(libexec, "python3.13", without_pip: false)
    system libexec/"bin/python", "-m", "pip", "install", "--no-cache-dir", buildpath
    bin.install_symlink libexec/"bin/polymnia"
    man1.install_symlink libexec/"share/man/man1/polymnia.1"
    generate_completions_from_executable(bin/"polymnia", "completion")
  end

  service do
    run [opt_bin/"polymnia", "serve"]
    keep_alive true
    log_path var/"log/polymnia.log"
    error_log_path var/"log/polymnia.log"
  end

  test do
    ENV["POLYMNIA_STORE"] = testpath/"memory.db"
    system bin/"polymnia", "add", "Ann likes green tea", "--embedder", "none"
    assert_match "green tea", shell_output("#{bin}/polymnia search tea --embedder none")
  end
end
