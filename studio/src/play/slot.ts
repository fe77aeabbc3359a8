import { startEngine } from '../engine/client';
import type { Engine, Prepared, Settings } from '../engine/protocol';
import { type Character, methodOf, type Work } from '../state/state';

/** An engine that plays, and what it was made ready with. */
export interface Side {
  engine: Engine;
  prepared: Prepared;
  settings: Settings;
}

export interface SlotHooks {
  character(): Character | null;
  work(work: Work | null): void;
  /** A side is ready, tuned or made anew: the slot's last one is still there until this is done. */
  ready(side: Side, anew: boolean): Promise<void>;
  /** These settings are not to be had; null where the user did not want to wait. */
  failed(error: Error | null): void;
}

/**
 * A place for one side. Told what is wanted, it tunes the engine that is there, or prepares another while that goes on
 * playing; of wishes that follow each other quickly only the last counts.
 */
export class Slot {
  side: Side | null = null;
  private wanted: Settings | null = null;
  private quietUntil = 0;
  private trying: Engine | null = null;
  private running: Promise<void> | null = null;

  constructor(private readonly label: string, private readonly hooks: SlotHooks) {}

  /** `delay` is how long to wait for more wishes before a preparation. */
  want(settings: Settings, delay = 0): Promise<void> {
    this.wanted = settings;
    this.quietUntil = performance.now() + delay;
    this.trying?.stop();
    this.running ??= this.run().finally(() => (this.running = null));
    return this.running;
  }

  /** When there is nothing left to do. */
  async idle(): Promise<void> {
    while (this.running) await this.running;
  }

  /** Takes a side that was made elsewhere. */
  put(side: Side): void {
    this.clear();
    this.side = side;
  }

  clear(): void {
    this.wanted = null;
    this.trying?.stop();
    this.side?.engine.stop();
    this.side = null;
  }

  private async run(): Promise<void> {
    while (this.wanted) {
      const settings = this.wanted;
      try {
        const side = this.side;
        if (side && (await this.tune(side, settings))) await this.hooks.ready(side, false);
        else await this.remake(settings);
        if (this.wanted === settings) this.wanted = null;
      } catch (error) {
        // What was stopped for a newer wish has not failed.
        if (this.wanted !== settings) continue;
        this.wanted = null;
        this.hooks.failed(error instanceof Cancelled ? null : (error as Error));
      } finally {
        this.hooks.work(null);
      }
    }
  }

  private async tune(side: Side, settings: Settings): Promise<boolean> {
    if (methodOf(side.settings) !== methodOf(settings)) return false;
    const tuned = await side.engine.tune(settings);
    if (tuned) side.settings = settings;
    return tuned;
  }

  private async remake(settings: Settings): Promise<void> {
    while (performance.now() < this.quietUntil) {
      await new Promise((resolve) => setTimeout(resolve, this.quietUntil - performance.now()));
    }
    // Something else was wished for meanwhile, which the old engine may be tuned to.
    if (this.wanted !== settings) return;
    const character = this.hooks.character();
    if (!character) return;
    let cancelled = false;
    const engine = await startEngine();
    this.trying = engine;
    const report = (share: number) =>
      this.hooks.work({
        label: this.label,
        share,
        cancel: () => {
          cancelled = true;
          engine.stop();
        },
      });
    try {
      if (this.wanted !== settings) throw new Error('no longer wanted');
      report(0);
      await engine.open(character.source, character.recording, settings, (share) => report(0.3 * share));
      const prepared = await engine.prepare(settings, (share) => report(0.3 + 0.7 * share));
      if (this.wanted !== settings) throw new Error('no longer wanted');
      const side = { engine, prepared, settings };
      await this.hooks.ready(side, true);
      this.side?.engine.stop();
      this.side = side;
    } catch (error) {
      engine.stop();
      throw cancelled ? new Cancelled() : error;
    } finally {
      this.trying = null;
    }
  }
}

class Cancelled extends Error {}
