import type { Settings } from '../engine/protocol';

/** The value at a dotted path such as `position.stretch` or `strain.stretch.0`; undefined where nothing is set. */
export function read(settings: Settings, path: string): unknown {
  let value: unknown = settings;
  for (const key of path.split('.')) {
    if (value === null || typeof value !== 'object') return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/** Settings with another value at a path; undefined takes the key away, and tables that are empty then. */
export function write(settings: Settings, path: string, value: unknown): Settings {
  const [key = '', ...rest] = path.split('.');
  const next: Settings = { ...settings };
  if (rest.length > 0) {
    const inner = settings[key];
    const table = inner !== null && typeof inner === 'object' && !Array.isArray(inner) ? (inner as Settings) : {};
    value = write(table, rest.join('.'), value);
    if (Object.keys(value as Settings).length === 0) value = undefined;
  }
  if (value === undefined) delete next[key];
  else next[key] = value;
  return next;
}

/** Several values at once. */
export function writeAll(settings: Settings, values: Record<string, unknown>): Settings {
  return Object.entries(values).reduce((all, [path, value]) => write(all, path, value), settings);
}

/** A table of an array of tables, such as `[[fibre]]`; empty where there is none. */
export function list<T>(settings: Settings, path: string): T[] {
  const value = read(settings, path);
  return Array.isArray(value) ? (value as T[]) : [];
}

/** With an array of tables, or without it where it is empty. */
export function writeList<T>(settings: Settings, path: string, items: T[]): Settings {
  return write(settings, path, items.length > 0 ? items : undefined);
}
