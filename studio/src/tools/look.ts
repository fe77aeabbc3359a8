import type { VertexNumbers } from '../engine/protocol';
import type { Aim } from '../scene/stage';
import { store } from '../state/state';
import { hitOf, type Tool, type Workbench } from './tool';

/** Without a tool in hand: a click on the skin asks for a vertex's numbers, one on a bone of the overlay chooses it. */
export class LookTool implements Tool {
  /** The vertex that is asked for, and in which half. */
  vertex: { index: number; half: number } | null = null;

  constructor(private readonly bench: Workbench, private readonly show: (numbers: VertexNumbers | null) => void) {
    store.on(['character'], () => this.forget());
  }

  move(aim: Aim, _event: PointerEvent, pressed: boolean): void {
    const figure = this.bench.stage.figures[aim.half];
    if (!figure || pressed) return;
    const over = store.state.skeleton ? this.boneAt(aim) : null;
    if (over === figure.skeleton.hovered) return;
    figure.skeleton.hovered = over;
    figure.skeleton.draw();
    this.bench.stage.canvas.title = over === null ? '' : (figure.opened.about.joints[over]?.name ?? '');
    this.bench.stage.redraw();
  }

  click(aim: Aim): void {
    const bone = store.state.skeleton ? this.boneAt(aim) : null;
    if (bone !== null) {
      store.set({ tool: 'pose', bone });
      return;
    }
    const found = hitOf(this.bench, aim);
    if (!found) return this.forget();
    this.vertex = { index: found.hit.vertex, half: aim.half };
    void this.refresh();
  }

  /** Reads the numbers anew. */
  async refresh(): Promise<void> {
    const { session } = this.bench;
    const { vertex } = this;
    const side = vertex?.half === 1 ? session.b.side : session.a.side;
    if (!vertex || !side) return;
    // An engine that was stopped meanwhile has no answer.
    const numbers = await side.engine.vertex(vertex.index).catch(() => null);
    if (numbers && this.vertex === vertex) this.show(numbers);
  }

  forget(): void {
    this.vertex = null;
    this.show(null);
  }

  private boneAt(aim: Aim): number | null {
    const { stage } = this.bench;
    return stage.figures[aim.half]?.skeleton.pick(aim.x, aim.y, stage.camera, stage.size()) ?? null;
  }
}
