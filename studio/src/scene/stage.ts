import {
  Box3, NeutralToneMapping, PerspectiveCamera, Raycaster, Scene, Vector2, Vector3, WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import type { Figure } from './figure';
import { Ground } from './ground';
import { Lights, studioEnvironment } from './light';

/** Where the pointer is: which half of the view, and the ray into it. */
export interface Aim {
  half: number;
  raycaster: Raycaster;
  /** From -1 to 1 within the half. */
  x: number;
  y: number;
}

/** What to draw with: where pictures take long (no graphics card), fewer pixels and no shadows. */
const QUALITIES = [
  { pixels: 1, shadows: true },
  { pixels: 0.8, shadows: false },
  { pixels: 0.5, shadows: false },
];
/** Pictures that take longer on average over so many are too slow, in milliseconds. */
const SLOW = 55;
const WATCHED = 10;

/** How far a character may walk before the camera follows, in its radii. */
const LEASH = 0.35;

/** Whether the processor draws: then reflections take seconds to prepare, and each pixel counts. */
function isSoftware(renderer: WebGLRenderer): boolean {
  const gl = renderer.getContext();
  const info = gl.getExtension('WEBGL_debug_renderer_info');
  const name = String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  return /swiftshader|llvmpipe|software|basic render/i.test(name);
}

/** The view: renderer, camera, light, ground, and one figure or two side by side. */
export class Stage {
  readonly scene = new Scene();
  readonly camera = new PerspectiveCamera(32, 1, 0.01, 1000);
  readonly renderer: WebGLRenderer;
  readonly controls: OrbitControls;
  figures: Figure[] = [];
  /** Called before each picture, with the milliseconds since the last. */
  onBefore: ((milliseconds: number) => void)[] = [];
  private readonly lights = new Lights();
  private readonly ground = new Ground();
  private dirty = true;
  /** Whether the last tick made a picture. */
  private drawn = false;
  private last = performance.now();
  private radius = 1;
  private quality = 0;
  /** Milliseconds from picture to picture, while one follows the other. */
  private pace: number[] = [];
  private floor = 0;
  /** Where the character is, but for small steps. */
  private readonly anchor = new Vector3();

  constructor(readonly canvas: HTMLCanvasElement) {
    this.renderer = new WebGLRenderer({ canvas, antialias: true, alpha: true, powerPreference: 'high-performance' });
    this.renderer.toneMapping = NeutralToneMapping;
    this.renderer.shadowMap.enabled = true;
    // To ask whether shaders are good is to wait for them.
    this.renderer.debug.checkShaderErrors = false;
    this.scene.environmentIntensity = 0.75;
    this.scene.add(this.ground.group, this.lights.group);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.zoomToCursor = true;
    this.controls.addEventListener('change', () => this.redraw());
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement!);
    this.resize();
    requestAnimationFrame(this.tick);
    if (isSoftware(this.renderer)) this.setQuality(1);
    // The page is there before its reflections.
    else setTimeout(() => this.polish());
  }

  /** Draws as well as it can. Without a graphics card it takes seconds to make ready. */
  polish(): void {
    this.scene.environment ??= studioEnvironment(this.renderer);
    this.lights.reflections(true);
    this.setQuality(0);
  }

  redraw(): void {
    this.dirty = true;
  }

  theme(dark: boolean): void {
    this.ground.theme(dark);
    this.redraw();
  }

  /** Looks at a box from the front quarter. */
  frame(box: Box3, floor: number): void {
    const middle = box.getCenter(new Vector3());
    const radius = Math.max(0.5 * box.getSize(new Vector3()).length(), 1e-6);
    const narrow = Math.min(1, this.aspect());
    const distance = (1.05 * radius) / Math.sin((0.5 * this.camera.fov * Math.PI) / 180) / narrow ** 0.8;
    const direction = new Vector3(0.55, 0.22, 1).normalize();
    this.radius = radius;
    this.floor = floor;
    this.anchor.copy(middle);
    this.camera.near = distance / 200;
    this.camera.far = distance * 40;
    this.camera.position.copy(middle).addScaledVector(direction, distance);
    this.controls.target.copy(middle);
    this.controls.minDistance = 0.05 * radius;
    this.controls.maxDistance = 12 * radius;
    this.lights.cover(middle, radius);
    this.ground.place(middle.x, floor, middle.z, radius);
    this.resize();
    this.controls.update();
  }

  /** Takes the camera along where a character walks away from where it was framed. */
  follow(middle: Vector3): void {
    const away = middle.clone().sub(this.anchor).setY(0);
    const leash = LEASH * this.radius;
    if (away.length() <= leash) return;
    away.setLength(away.length() - leash);
    this.anchor.add(away);
    this.camera.position.add(away);
    this.controls.target.add(away);
    this.lights.cover(this.anchor, this.radius);
    this.ground.place(this.anchor.x, this.floor, this.anchor.z, this.radius);
    this.redraw();
  }

  /** From the middle of what is looked at to the eye. */
  eye(): Vector3 {
    return this.camera.position.clone().sub(this.controls.target).normalize();
  }

  aim(event: { clientX: number; clientY: number }): Aim {
    const box = this.canvas.getBoundingClientRect();
    const halves = Math.max(1, this.figures.length);
    const across = ((event.clientX - box.left) / box.width) * halves;
    const half = Math.min(halves - 1, Math.max(0, Math.floor(across)));
    const x = 2 * (across - half) - 1;
    const y = 1 - (2 * (event.clientY - box.top)) / box.height;
    const raycaster = new Raycaster();
    raycaster.setFromCamera(new Vector2(x, y), this.camera);
    return { half, raycaster, x, y };
  }

  /** Pixels of one half of the view. */
  size(): Vector2 {
    const box = this.canvas.getBoundingClientRect();
    return new Vector2(box.width / Math.max(1, this.figures.length), box.height);
  }

  resize(): void {
    const parent = this.canvas.parentElement!;
    const width = Math.max(1, parent.clientWidth);
    const height = Math.max(1, parent.clientHeight);
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2) * QUALITIES[this.quality]!.pixels);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = this.aspect();
    this.camera.updateProjectionMatrix();
    this.redraw();
  }

  /** A PNG of the view as it is, with nothing behind it. */
  picture(): Promise<Blob> {
    const { quality } = this;
    this.setQuality(0);
    this.render();
    const blob = new Promise<Blob>((resolve, reject) => {
      this.canvas.toBlob((made) => (made ? resolve(made) : reject(new Error('the browser gave no picture'))), 'image/png');
    });
    this.setQuality(quality);
    return blob;
  }

  /** Draws as well as told, or as well as this machine can in time. */
  setQuality(quality: number): void {
    this.quality = quality;
    this.pace = [];
    this.lights.shadows(QUALITIES[quality]!.shadows);
    this.resize();
  }

  private watchPace(milliseconds: number): void {
    this.pace.push(milliseconds);
    if (this.pace.length < WATCHED) return;
    const mean = this.pace.reduce((a, b) => a + b) / WATCHED;
    this.pace = [];
    if (mean > SLOW && this.quality < QUALITIES.length - 1) this.setQuality(this.quality + 1);
  }

  private aspect(): number {
    const size = this.size();
    return Math.max(1, size.x) / Math.max(1, size.y);
  }

  private readonly tick = (now: number) => {
    requestAnimationFrame(this.tick);
    const passed = now - this.last;
    this.last = now;
    for (const call of this.onBefore) call(passed);
    this.controls.update();
    if (this.drawn) this.watchPace(passed);
    this.drawn = this.dirty;
    if (this.dirty) this.render();
  };

  private render(): void {
    this.dirty = false;
    const size = this.renderer.getSize(new Vector2());
    const halves = this.figures.length;
    this.renderer.setScissorTest(halves > 1);
    for (let k = 0; k < Math.max(1, halves); k++) {
      if (halves > 1) {
        const left = Math.round((size.x * k) / halves);
        const width = Math.round((size.x * (k + 1)) / halves) - left;
        this.renderer.setViewport(left, 0, width, size.y);
        this.renderer.setScissor(left, 0, width, size.y);
      } else {
        this.renderer.setViewport(0, 0, size.x, size.y);
      }
      this.figures.forEach((figure, i) => (figure.group.visible = i === k));
      this.renderer.render(this.scene, this.camera);
    }
  }
}
