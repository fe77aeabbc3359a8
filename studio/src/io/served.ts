import type { Source } from '../engine/protocol';

/** What `pliant studio FILE` serves beside the page. */
type Listing =
  | { sample: string }
  | { main: string; files: { name: string; size: number }[]; skeleton?: string; weights?: string };

/** What the page was started with, where the command serves it; null on a plain host, and where it was not given any. */
export async function servedSource(): Promise<Source | null> {
  const token = new URLSearchParams(location.search).get('token');
  if (!token) return null;
  const headers = { 'x-pliant-token': token };
  const response = await fetch('api/open', { headers });
  if (!response.ok || response.status === 204) return null;
  const listing = (await response.json()) as Listing;
  if ('sample' in listing) return listing;
  const files = await Promise.all(
    listing.files.map(async ({ name }, i) => {
      const file = await fetch(`api/file/${i}`, { headers });
      if (!file.ok) throw new Error(`${name} could not be had from the command: ${file.status} ${file.statusText}`);
      return { name, bytes: new Uint8Array(await file.arrayBuffer()) };
    }),
  );
  return { ...listing, files };
}
