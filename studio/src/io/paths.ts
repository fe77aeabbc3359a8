import type { NamedFile } from '../engine/protocol';

export function folderOf(name: string): string {
  return name.slice(0, name.lastIndexOf('/') + 1);
}

export function fileNameOf(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

export function stemOf(name: string): string {
  return fileNameOf(name).replace(/\.[^.]*$/, '');
}

/** In lower case, without the dot. */
export function extensionOf(name: string): string {
  const dot = fileNameOf(name).lastIndexOf('.');
  return dot < 0 ? '' : fileNameOf(name).slice(dot + 1).toLowerCase();
}

/** A path without `.` and `..`. */
export function tidyPath(path: string): string {
  const parts: string[] = [];
  for (const part of path.replaceAll('\\', '/').split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.join('/');
}

/** The file that `from` means by a URI, which may be percent-encoded; by its name alone where folders are not as said. */
export function findFile(files: NamedFile[], from: string, uri: string): NamedFile | undefined {
  const wanted = [uri, decoded(uri)].map((path) => tidyPath(folderOf(from) + path));
  const exact = files.find((file) => wanted.includes(tidyPath(file.name)));
  if (exact) return exact;
  const names = wanted.map((path) => fileNameOf(path).toLowerCase());
  return files.find((file) => names.includes(fileNameOf(file.name).toLowerCase()));
}

function decoded(uri: string): string {
  try {
    return decodeURIComponent(uri);
  } catch {
    return uri;
  }
}
