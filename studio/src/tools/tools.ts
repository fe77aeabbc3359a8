import type { VertexNumbers } from '../engine/protocol';
import { store, type ToolName } from '../state/state';
import { BrushTool } from './brush';
import { CurveTool } from './curve';
import { FIBRES, MUSCLES } from './curves';
import { LookTool } from './look';
import { PoseTool } from './pose';
import type { Tool, Workbench } from './tool';

/** A pointer that moved less between press and release has clicked, in pixels. */
const CLICK_PIXELS = 5;

/** All tools, and which one has the pointer. */
export class Tools {
  readonly look: LookTool;
  readonly brush: BrushTool;
  readonly fibre: CurveTool;
  readonly muscle: CurveTool;
  readonly pose: PoseTool;
  private current: ToolName = 'look';
  private press: { x: number; y: number; taken: boolean; pointer: number } | null = null;

  constructor(private readonly bench: Workbench, showVertex: (numbers: VertexNumbers | null) => void) {
    this.look = new LookTool(bench, showVertex);
    this.brush = new BrushTool(bench);
    this.fibre = new CurveTool(bench, 'fibre', FIBRES);
    this.muscle = new CurveTool(bench, 'muscle', MUSCLES);
    this.pose = new PoseTool(bench);
    const { canvas } = bench.stage;
    // Before the camera's own listeners, which must not see a press that a tool takes.
    canvas.addEventListener('pointerdown', (event) => this.down(event), { capture: true });
    canvas.addEventListener('pointermove', (event) => this.move(event));
    window.addEventListener('pointerup', (event) => this.up(event));
    window.addEventListener('pointercancel', () => this.release());
    canvas.addEventListener('pointerleave', () => this.tool.leave?.());
    store.on(['tool'], ({ tool }) => this.take(tool));
    store.on(['playing'], ({ playing, tool }) => {
      if (playing && tool === 'pose') store.set({ tool: 'look' });
    });
  }

  get tool(): Tool {
    return this[this.current];
  }

  key(event: KeyboardEvent): boolean {
    return this.tool.key?.(event) ?? false;
  }

  /** The skin has moved. */
  follow(): void {
    this.fibre.follow();
    this.muscle.follow();
    this.pose.follow();
  }

  private take(tool: ToolName): void {
    if (tool === this.current) return;
    this.tool.stop?.();
    this.bench.stage.canvas.style.cursor = tool === 'brush' || tool === 'fibre' || tool === 'muscle' ? 'crosshair' : '';
    this.current = tool;
    // Hands work on what stands still.
    if (tool !== 'look') store.set({ playing: false });
    this.tool.start?.();
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0 || !event.isPrimary) return;
    const taken = this.tool.down?.(this.bench.stage.aim(event), event) ?? false;
    this.press = { x: event.clientX, y: event.clientY, taken, pointer: event.pointerId };
    if (taken) this.bench.stage.controls.enabled = false;
  }

  private move(event: PointerEvent): void {
    if (!event.isPrimary) return;
    this.tool.move?.(this.bench.stage.aim(event), event, this.press !== null);
  }

  private up(event: PointerEvent): void {
    const { press } = this;
    if (!press || event.pointerId !== press.pointer) return;
    const still = Math.hypot(event.clientX - press.x, event.clientY - press.y) < CLICK_PIXELS;
    this.release();
    if (!press.taken && still) this.tool.click?.(this.bench.stage.aim(event), event);
  }

  private release(): void {
    if (!this.press) return;
    if (this.press.taken) {
      this.tool.up?.();
      this.bench.stage.controls.enabled = true;
    }
    this.press = null;
  }
}
