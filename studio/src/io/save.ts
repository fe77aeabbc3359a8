import type { NamedFile } from '../engine/protocol';
import { store } from '../state/state';
import { fileNameOf, stemOf } from './paths';

/** Hands a file to the user. */
export function download(name: string, data: Blob | Uint8Array | string): void {
  const blob = data instanceof Blob ? data : new Blob([data as BlobPart]);
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Several files one after the other, named after a stem where it is one alone. */
export function downloadAll(stem: string, files: NamedFile[]): void {
  if (files.length === 1) return download(`${stem}${files[0]!.name.slice(files[0]!.name.lastIndexOf('.'))}`, files[0]!.bytes);
  for (const file of files) download(fileNameOf(file.name), file.bytes);
}

/** What files of this character are called. */
export function characterStem(): string {
  const { character } = store.state;
  if (!character) return 'pliant';
  return 'sample' in character.source ? character.source.sample : stemOf(character.source.main);
}

function clipName(): string | null {
  const { character, clip } = store.state;
  return clip === null ? null : (character?.opened.about.clips[clip]?.name ?? String(clip));
}

/** The command line that bakes what is shown, once the settings are saved beside the character. */
export function bakeCommand(): string {
  const { character } = store.state;
  const stem = characterStem();
  const source = character?.source;
  const words = ['pliant', 'bake'];
  if (!source || 'sample' in source) {
    words.push(`sample:${stem}`);
  } else {
    words.push(fileNameOf(source.main));
    if (source.skeleton) words.push('--skeleton', fileNameOf(source.skeleton));
    if (source.weights) words.push('--weights-file', fileNameOf(source.weights));
  }
  if (character?.recording) words.push('--motion', fileNameOf(character.recording.file.name));
  if (character?.recording?.map) words.push('--map', fileNameOf(character.recording.map.name));
  words.push('--config', `${stem}.toml`);
  const clip = clipName();
  if (clip !== null && !character?.recording) words.push('--clip', clip);
  words.push('-o', `${stem}-soft.glb`);
  return words.map(quoted).join(' ');
}

/** A word as shells take it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
