// Where the files are that the program reads beside its own code: beside this file in the sources, and in the one folder of
// everything when it was built.
export function assetPath(path: string): URL {
  return new URL(path, import.meta.url);
}
