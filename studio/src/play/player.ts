import type { Frame, Turn } from '../engine/protocol';
import { store } from '../state/state';
import type { Side } from './slot';

/** Longest time that one request lets pass, so that an engine slower than life plays slowly and does not fall behind. */
const LONGEST_STEP = 1 / 15;
/** A seek that takes longer is shown as such, in milliseconds. */
const PATIENCE = 160;

/** Asks sides for frames: one request at a time, all sides in step. */
export class Player {
  /** What joints are turned by, while posing. */
  turns: Turn[] | null = null;
  private sides: Side[] = [];
  private flight: Promise<void> | null = null;
  private wish: { clip: number | null; seconds: number } | null = null;
  private refreshWished = false;
  /** Time as `play` counts it: goes on where a clip starts again. */
  private elapsed = 0;
  private waiting: (() => void)[] = [];

  constructor(
    private readonly show: (frames: Frame[]) => void,
    private readonly failed: (error: Error) => void,
  ) {}

  /** Takes other sides once what is under way is answered. */
  async use(sides: Side[]): Promise<void> {
    await this.flight;
    this.sides = sides;
  }

  /** Wishes for a time; resolves when a frame of this or a later wish is shown. */
  seek(clip: number | null, seconds: number): Promise<void> {
    this.wish = { clip, seconds };
    const done = new Promise<void>((resolve) => this.waiting.push(resolve));
    this.advance(0);
    return done;
  }

  /** When nothing is wished for or under way. */
  async idle(): Promise<void> {
    while (this.flight || this.wish || this.refreshWished) {
      await (this.flight ?? new Promise((resolve) => requestAnimationFrame(resolve as () => void)));
      // Play goes from flight to flight; what was wished for is shown by then.
      if (store.state.playing && !this.wish) return;
    }
  }

  /** The same moment once more, since what frames carry has changed. */
  refresh(): void {
    this.refreshWished = true;
  }

  /** Lets wall-clock time pass. */
  advance(milliseconds: number): void {
    if (this.flight || this.sides.length === 0) return;
    const step = Math.min(milliseconds / 1000, LONGEST_STEP);
    const { playing, speed, loop, clip } = store.state;
    if (this.wish) this.launch(this.seekAll(this.wish));
    else if (this.turns) this.launch(this.poseAll(this.turns, step));
    else if (playing) this.launch(this.playAll(clip, step * speed, loop));
    else if (this.refreshWished) this.launch(this.poseAll([], 0));
  }

  private launch(request: Promise<void>): void {
    this.refreshWished = false;
    this.flight = request.catch((error: Error) => this.failed(error)).finally(() => (this.flight = null));
  }

  private async seekAll(wish: { clip: number | null; seconds: number }): Promise<void> {
    this.wish = null;
    const waiting = this.waiting;
    this.waiting = [];
    const slow = setTimeout(() => store.set({ seeking: true }), PATIENCE);
    try {
      const frames = await Promise.all(this.sides.map((side) => side.engine.seek(wish.clip, wish.seconds)));
      this.elapsed = wish.seconds;
      store.set({ clip: wish.clip });
      this.present(frames);
    } finally {
      clearTimeout(slow);
      store.set({ seeking: false });
      for (const resolve of waiting) resolve();
    }
  }

  private async playAll(clip: number | null, step: number, loop: boolean): Promise<void> {
    this.elapsed += step;
    const frames = await Promise.all(this.sides.map((side) => side.engine.play(clip, this.elapsed, loop)));
    this.present(frames);
    const length = clip === null ? Infinity : (store.state.character?.opened.about.clips[clip]?.seconds ?? 0);
    if (!loop && this.elapsed >= length) store.set({ playing: false });
  }

  private async poseAll(turns: Turn[], step: number): Promise<void> {
    this.present(await Promise.all(this.sides.map((side) => side.engine.pose(turns, step))));
  }

  private present(frames: Frame[]): void {
    // A newer wish is what the hand on the scrub bar shows.
    if (!this.wish && frames[0]) store.set({ seconds: frames[0].seconds });
    this.show(frames);
  }
}
