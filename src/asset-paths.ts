// Finds files of the program: next to this file in the sources, and in the one folder of a built program.
export function assetPath(path: string): URL {
  return new URL(path, import.meta.url);
}
