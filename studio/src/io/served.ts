import type { Source } from '../engine/protocol';

/** What `pliant studio FILE` serves beside the page. */
interface Listing {
  sample?: string;
  main?: string;
  skeleton?: string;
  weights?: string;
  files?: { name: string; size: number }[];
}

/** The character that the page was started with, where the command serves it; null on a plain host. */
export async function servedSource(): Promise<Source | null> {
  const token = new URLSearchParams(location.search).get('token');
  if (!token) return null;
  const headers = { 'x-pliant-token': token };
  const response = await fetch('api/open', { headers });
  if (!response.ok) return null;
  const { sample, main, skeleton, weights, files = [] } = (await response.json()) as Listing;
  if (sample) return { sample };
  if (!main) return null;
  const read = async ({ name }: { name: string }, i: number) => {
    const file = await fetch(`api/file/${i}`, { headers });
    if (!file.ok) throw new Error(`${name} could not be had from the command: ${file.status} ${file.statusText}`);
    return { name, bytes: new Uint8Array(await file.arrayBuffer()) };
  };
  return { main, skeleton, weights, files: await Promise.all(files.map(read)) };
}
