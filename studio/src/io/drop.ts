import type { NamedFile, Source } from '../engine/protocol';
import { extensionOf, folderOf, tidyPath } from './paths';

const MOST_BYTES = 512 * 1024 * 1024;
const MOST_FILES = 2000;

const SKELETONS = ['tgf', 'mhskel', 'bvh'];
const WEIGHTS = ['dmat', 'mhw', 'json'];

/** What a drop or a choice of files is about. */
export type Dropped =
  | { kind: 'character'; source: Exclude<Source, { sample: string }>; recording: NamedFile | null; settings: NamedFile | null }
  | { kind: 'recording'; file: NamedFile; map: NamedFile | null }
  | { kind: 'settings'; file: NamedFile };

/** Why files cannot be taken, in words for the user. */
export class DropError extends Error {}

/** All files of a drop, folders opened. Must be called while the event is handled: the browser forgets them after it. */
export async function droppedFiles(transfer: DataTransfer): Promise<NamedFile[]> {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  const plain = [...transfer.files];
  if (entries.length === 0) return readFiles(plain.map((file) => ({ file, name: file.name })));
  const found: { file: File; name: string }[] = [];
  for (const entry of entries) await walk(entry, '', found);
  return readFiles(found);
}

/** Files of a file input; those of a folder keep their paths. */
export function pickedFiles(list: FileList): Promise<NamedFile[]> {
  return readFiles([...list].map((file) => ({ file, name: file.webkitRelativePath || file.name })));
}

async function walk(entry: FileSystemEntry, folder: string, found: { file: File; name: string }[]): Promise<void> {
  if (found.length >= MOST_FILES) throw new DropError(`That is more than ${MOST_FILES} files. Drop the character's own folder.`);
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    found.push({ file, name: folder + entry.name });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  // A reader gives a hundred at a time, and nothing when it is done.
  for (;;) {
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (batch.length === 0) return;
    for (const child of batch) await walk(child, `${folder}${entry.name}/`, found);
  }
}

async function readFiles(files: { file: File; name: string }[]): Promise<NamedFile[]> {
  if (files.length > MOST_FILES) throw new DropError(`That is more than ${MOST_FILES} files. Drop the character's own folder.`);
  const bytes = files.reduce((sum, { file }) => sum + file.size, 0);
  if (bytes > MOST_BYTES) throw new DropError(`That is ${Math.round(bytes / 2 ** 20)} MB; the studio takes up to 512 MB at once.`);
  return Promise.all(
    files.map(async ({ file, name }) => ({ name: tidyPath(name), bytes: new Uint8Array(await file.arrayBuffer()) })),
  );
}

/** Says what files are meant for: a character, a recording for the one that is open, or settings. */
export function sortOut(files: NamedFile[], characterOpen: boolean): Dropped {
  const having = (...extensions: string[]) => files.filter((file) => extensions.includes(extensionOf(file.name)));
  const settings = having('toml')[0] ?? null;
  const recording = having('bvh')[0];
  const rigged = having('glb', 'gltf', 'vrm')[0];
  if (rigged) return { kind: 'character', source: sourceOf(rigged, files), recording: recording ?? null, settings };
  const mesh = having('obj')[0];
  if (mesh) return { kind: 'character', source: sourceOf(mesh, files), recording: null, settings };
  if (recording && characterOpen) return { kind: 'recording', file: recording, map: settings };
  if (recording) return { kind: 'character', source: sourceOf(recording, files), recording: null, settings };
  if (settings) return { kind: 'settings', file: settings };
  const names = files.slice(0, 3).map((file) => file.name).join(', ');
  throw new DropError(
    files.length === 0
      ? 'There were no files in that.'
      : `None of these is a character: ${names}${files.length > 3 ? ' …' : ''}. The studio opens .glb, .gltf, .vrm, .obj with a skeleton, .bvh and settings in .toml.`,
  );
}

/** A character to open, with the files that an OBJ has its skeleton and weights in. */
export function sourceOf(main: NamedFile, files: NamedFile[]): Exclude<Source, { sample: string }> {
  const source = { main: main.name, files };
  if (extensionOf(main.name) !== 'obj') return source;
  const beside = files.filter((file) => folderOf(file.name) === folderOf(main.name));
  const first = (extensions: string[]) =>
    extensions.map((extension) => beside.find((file) => extensionOf(file.name) === extension)).find((file) => file)?.name;
  return { ...source, skeleton: first(SKELETONS), weights: first(WEIGHTS) };
}
