import type { Session } from '../play/session';
import { store } from '../state/state';
import { iconButton } from './controls';
import { el, setPressed } from './dom';
import { icon } from './icons';

const SPEEDS = [0.1, 0.25, 0.5, 1, 2];
/** Frames a second of clips that were not recorded at a rate. */
const USUAL_FPS = 30;

/** How long the shown clip is, and its frames a second. */
export function clipLength(): { seconds: number; fps: number } {
  const { character, clip } = store.state;
  const shown = clip === null ? undefined : character?.opened.about.clips[clip];
  return { seconds: shown?.seconds ?? 0, fps: shown?.fps ?? USUAL_FPS };
}

/** Pauses and shows a time. */
export function goTo(session: Session, seconds: number): Promise<void> {
  const length = clipLength().seconds;
  const at = Math.min(Math.max(0, seconds), length);
  store.set({ playing: false, seconds: at });
  return session.player.seek(store.state.clip, at);
}

export function stepFrames(session: Session, frames: number): Promise<void> {
  const { fps } = clipLength();
  return goTo(session, (Math.round(store.state.seconds * fps) + frames) / fps);
}

export function chooseClip(session: Session, clip: number | null): Promise<void> {
  store.set({ clip, seconds: 0 });
  return session.player.seek(clip, 0);
}

/** Play, pause, loop, speed, clips and a bar to scrub. */
export function timeline(session: Session): HTMLElement {
  const play = iconButton('play', 'Play', () => store.set({ playing: !store.state.playing }), 'Space', 'play');
  play.classList.add('primary');
  const first = iconButton('first', 'To the start', () => void goTo(session, 0), 'Home', 'to-start');
  const last = iconButton('last', 'To the end', () => void goTo(session, clipLength().seconds), 'End', 'to-end');
  const loop = iconButton('loop', 'Loop', () => store.set({ loop: !store.state.loop }), 'L', 'loop');
  const clips = el('select', { 'aria-label': 'Clip', id: 'clips', class: 'select' });
  clips.onchange = () => void chooseClip(session, clips.value === '' ? null : Number(clips.value));
  const speed = el('select', { 'aria-label': 'Speed', id: 'speed', class: 'select' });
  speed.append(...SPEEDS.map((value) => el('option', { value: String(value) }, `${value}×`)));
  speed.onchange = () => store.set({ speed: Number(speed.value) });
  const bar = el('input', { type: 'range', min: '0', step: 'any', 'aria-label': 'Time', id: 'scrub', class: 'scrub' });
  bar.oninput = () => void goTo(session, Number(bar.value));
  const time = el('output', { class: 'time', id: 'time' });
  const busy = el('span', { class: 'spinner', role: 'status', 'aria-label': 'Finding that moment', hidden: true });

  store.watch(['character'], ({ character }) => {
    const list = character?.opened.about.clips ?? [];
    const options = list.map((clip, i) => el('option', { value: String(i) }, clip.name || `Clip ${i}`));
    clips.replaceChildren(...options, el('option', { value: '' }, list.length > 0 ? 'Default pose' : 'No clips: default pose'));
  });
  store.watch(['character', 'clip'], ({ clip }) => {
    clips.value = clip === null ? '' : String(clip);
    bar.max = String(clipLength().seconds || 1);
    for (const control of [bar, first, last]) control.disabled = clip === null;
  });
  store.watch(['seconds', 'clip', 'character'], ({ seconds }) => {
    const length = clipLength();
    bar.value = String(seconds);
    bar.style.setProperty('--share', `${(100 * seconds) / (length.seconds || 1)}%`);
    const frame = Math.round(seconds * length.fps);
    time.textContent = `${seconds.toFixed(2)} / ${length.seconds.toFixed(2)} s · frame ${frame}`;
    bar.setAttribute('aria-valuetext', `${seconds.toFixed(2)} seconds, frame ${frame}`);
  });
  store.watch(['playing', 'loop', 'speed', 'seeking'], (state) => {
    play.replaceChildren(icon(state.playing ? 'pause' : 'play'));
    play.setAttribute('aria-label', state.playing ? 'Pause' : 'Play');
    setPressed(loop, state.loop);
    speed.value = String(state.speed);
    busy.hidden = !state.seeking;
  });
  return el(
    'footer',
    { class: 'timeline', 'aria-label': 'Timeline' },
    el('div', { class: 'transport' }, first, play, last, loop),
    clips,
    bar,
    busy,
    time,
    speed,
  );
}
