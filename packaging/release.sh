#!/usr/bin/env bash
# Build and check the files of a release in dist/: bash packaging/release.sh 1.0.0
# The tree stays as it is, unless WRITE=1 sets the version in it, to commit and tag. CHECKS=0 leaves out .ci/run.
# A tree that has the version and its section already, such as that of a tag, is released as it is.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD version=${1:-} output=${OUTPUT:-$PWD/dist}
export PATH="$(realpath --no-symlinks "${VENV:-.venv}")/bin:$PATH" PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_QUIET=1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

say() { echo "release: $*"; }
fail() { echo "release: $*" >&2; exit 2; }
# The lines of the changelog below "## [$1]".
section() { awk -v name="## [$1]" '/^## \[/ { inside = index($0, name) == 1; next } inside' CHANGELOG.md; }
# A hash of all that decides numbers and speed: SQL files and modules, without the version.
digest() { git ls-files -- 'sql/*.sql' 'sql/*.toml' 'sqlrank/*.py' ':!sqlrank/_version.py' | LC_ALL=C sort | xargs sha256sum | sha256sum | cut -c 1-16; }

if [ "$version" = mark ]; then # after make bench: name in the page of speed the sources that it was measured with
  sed -i '/^<!-- sources .* -->$/d' docs/speed.md
  printf '<!-- sources %s -->\n' "$(digest)" >> docs/speed.md
  exit
fi
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || fail "'$version' is no version. Give three numbers, as in 1.0.0"
current=$(bump-my-version show current_version)
prepared=$([ "$current" = "$version" ] && grep -q "^## \[$version\] - " CHANGELOG.md && echo 1 || echo 0)
if [ "$prepared" = 0 ]; then
  last=$(grep -m 1 -oP '^## \[\K[0-9][^]]*' CHANGELOG.md || echo 0.0.0)
  [ "$last" != "$version" ] && printf '%s\n' "$last" "$version" | sort --check=quiet --version-sort \
    || fail "$version is not above $last, the last release in CHANGELOG.md"
  [ -n "$(section Unreleased)" ] || fail "CHANGELOG.md has no changes under ## [Unreleased]. Name those of this release"
fi
if ! grep -q "^<!-- sources $(digest) -->$" docs/speed.md; then
  stale="docs/speed.md was measured with other sources. Run make bench, update the page, then bash packaging/release.sh mark"
  [[ $version != *.0.0 || $prepared${WRITE:-0} = 00 ]] || fail "$stale"
  say "not ready for a major version: $stale"
fi
if [ "$prepared" = 0 ]; then
  if [ "${WRITE:-0}" = 1 ]; then
    [ -z "$(git status --porcelain)" ] || fail "git status is not clean. Commit or remove the changes first"
  else # git tells the checks which files belong to the copy
    mkdir "$scratch/tree"
    git ls-files -z --cached --others --exclude-standard --deduplicate | xargs -0 cp --parents --target-directory "$scratch/tree"
    cd "$scratch/tree"
    git init --quiet && git add --all
  fi
  bump-my-version bump --new-version "$version"
  PYTHONPATH=. python -m website.public_interface
  PYTHONPATH=. python -m tests.stored
  say "set the version$([ "${WRITE:-0}" = 1 ] || echo ' in a copy')"
fi
tree=$PWD
[ "${CHECKS:-1}" = 0 ] || { say "run .ci/run with all tests, which takes up to two hours"; SHARE=1/1 bash .ci/run; }

# The time of all files is the day of the release, and hashes of Python differ between the builds.
SOURCE_DATE_EPOCH=$(date --utc --date "$(grep -oP "^## \[$version\] - \K.*" CHANGELOG.md)" +%s)
export SOURCE_DATE_EPOCH
for seed in 1 2; do PYTHONHASHSEED=$seed python -m build --no-isolation --outdir "$scratch/$seed" . > /dev/null; done
diff -r "$scratch/1" "$scratch/2" || fail "two builds gave different bytes"
wheel=$(echo "$scratch"/1/*.whl) sdist=$(echo "$scratch"/1/*.tar.gz)
twine check --strict "$wheel" "$sdist"
check-wheel-contents "$wheel"
check-sdist --no-isolation
diff <(git ls-files sql | LC_ALL=C sort) <(python -m zipfile -l "$wheel" | grep -oP '^sqlrank/\Ksql/\S+' | LC_ALL=C sort) \
  || fail "the wheel has other files of sql/ than the tree"
say "built $(basename "$wheel") and $(basename "$sdist") twice, with the same bytes, and checked what is in them"

# install ARCHIVE NAME PYTHON: evaluate a collection in a new environment, in a folder without the tree.
install() {
  "$3" -m venv "$scratch/$2"
  cd "$scratch"
  "$scratch/$2/bin/python" -m pip install "$1"
  local value
  value=$(PYTHONPATH='' "$scratch/$2/bin/sqlrank" evaluate nDCG@10 --format csv \
    --run "$root/examples/data/trec_eval/results.test" --qrels "$root/examples/data/trec_eval/qrels.test" | tail -n 1)
  [[ $value == 0.3015771992102* ]] || fail "$1 gives nDCG@10 $value on $3, and should give 0.3015771992102"
  cd "$tree"
}
install "$sdist" sdist python
install "$wheel" wheel python
for minor in $(grep -oP 'Python :: \K3\.[0-9]+' pyproject.toml); do
  python=$(command -v "python$minor" || ls -d ~/.pyenv/versions/"$minor".*/bin/python 2> /dev/null | tail -n 1 || true)
  if [ -n "$python" ] && "$python" --version > /dev/null 2>&1; then
    install "$wheel" "wheel-$minor" "$python"
    say "the wheel gives its numbers on Python $minor"
  else
    say "no Python $minor at hand"
  fi
done

mkdir -p "$output"
cp "$wheel" "$sdist" "$output"
"$scratch/wheel/bin/python" -m pip uninstall --yes setuptools pip
# pyproject.toml of the package names no version, which the description of it needs.
sed "s/^dynamic = .*/version = \"$version\"/" pyproject.toml > "$scratch/pyproject.toml"
cyclonedx-py environment --pyproject "$scratch/pyproject.toml" --mc-type library --output-reproducible --of JSON \
  -o "$output/sqlrank-$version.cdx.json" "$scratch/wheel/bin/python"
{ echo "# sqlrank $version"; section "$version"; } > "$output/NOTES.md"
(cd "$output" && sha256sum "$(basename "$wheel")" "$(basename "$sdist")" "sqlrank-$version.cdx.json" > SHA256SUMS)
say "$output has the files, SBOM, NOTES.md and SHA256SUMS"
[ "$tree" != "$root" ] || [ "$prepared" = 1 ] \
  || say "read git diff, then: git commit -am 'Release $version' && git tag v$version && git push --follow-tags"
