import type { Opened } from '../engine/protocol';
import type { Session } from '../play/session';
import type { Figure } from '../scene/figure';
import { type Hit, pickSkin } from '../scene/pick';
import type { Aim, Stage } from '../scene/stage';

/** What tools have at hand. */
export interface Workbench {
  stage: Stage;
  session: Session;
  /** The figure that is worked on: the left half's. */
  figure(): Figure | null;
}

/** What the pointer does in the view. A tool that takes a press keeps the camera still until release. */
export interface Tool {
  start?(): void;
  stop?(): void;
  /** True where the press is the tool's. */
  down?(aim: Aim, event: PointerEvent): boolean;
  move?(aim: Aim, event: PointerEvent, pressed: boolean): void;
  up?(): void;
  /** A press and release at one place, which the camera did not need. */
  click?(aim: Aim, event: PointerEvent): void;
  leave?(): void;
  /** True where the key is the tool's. */
  key?(event: KeyboardEvent): boolean;
}

/** Where an aim meets the skin of the half that it is in. */
export function hitOf(bench: Workbench, aim: Aim): { hit: Hit; opened: Opened; figure: Figure } | null {
  const figure = bench.stage.figures[aim.half];
  if (!figure) return null;
  const hit = pickSkin(aim.raycaster.ray, figure.skin.positions, figure.opened);
  return hit && { hit, opened: figure.opened, figure };
}
