import { METHODS, type Method, methodOf, store } from '../state/state';

/** What a link restores. */
export interface LinkState {
  sample?: string;
  clip?: string;
  method?: Method;
  preset?: string;
  seconds?: number;
}

export function readLink(hash: string): LinkState {
  const params = new URLSearchParams(hash.replace(/^#/, ''));
  const seconds = Number(params.get('t') ?? NaN);
  return {
    sample: params.get('sample') ?? undefined,
    clip: params.get('clip') ?? undefined,
    method: METHODS.find((name) => name === params.get('method')),
    preset: params.get('preset') ?? undefined,
    seconds: Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined,
  };
}

/** The hash that restores what is shown; empty where that is a file of the user's own. */
export function linkHash(): string {
  const { character, clip, settings, seconds } = store.state;
  if (!character || !('sample' in character.source)) return '';
  const params = new URLSearchParams({ sample: character.source.sample });
  const name = clip === null ? undefined : character.opened.about.clips[clip]?.name;
  if (name) params.set('clip', name);
  params.set('method', methodOf(settings));
  if (typeof settings.preset === 'string') params.set('preset', settings.preset);
  params.set('t', String(Number(seconds.toFixed(3))));
  return `#${params}`;
}

/** Keeps the address of the page a link to what is shown. Time counts only while it stands still. */
export function keepAddress(): void {
  let due: number | undefined;
  store.on(['character', 'clip', 'settings', 'seconds', 'playing'], ({ playing }) => {
    if (playing && due !== undefined) return;
    clearTimeout(due);
    due = window.setTimeout(() => {
      due = undefined;
      const hash = linkHash();
      if (hash !== location.hash) history.replaceState(null, '', hash || location.pathname + location.search);
    }, store.state.playing ? 1000 : 250);
  });
}
