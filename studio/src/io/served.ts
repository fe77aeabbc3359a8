import type { NamedFile } from '../engine/protocol';

/** What `pliant studio FILE` serves beside the page. */
interface Listing {
  main: string;
  files: { name: string; size: number }[];
}

/** The files that the page was started with, where the command serves it; null on a plain host. */
export async function servedFiles(): Promise<{ main: string; files: NamedFile[] } | null> {
  const token = new URLSearchParams(location.search).get('token');
  if (!token) return null;
  const headers = { 'x-pliant-token': token };
  const response = await fetch('api/open', { headers });
  if (!response.ok) return null;
  const listing = (await response.json()) as Listing;
  const files = await Promise.all(
    listing.files.map(async ({ name }, i) => {
      const file = await fetch(`api/file/${i}`, { headers });
      if (!file.ok) throw new Error(`${name} could not be had from the command: ${file.status} ${file.statusText}`);
      return { name, bytes: new Uint8Array(await file.arrayBuffer()) };
    }),
  );
  return { main: listing.main, files };
}
