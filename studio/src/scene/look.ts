import {
  BufferAttribute, BufferGeometry, type InterleavedBufferAttribute, LoadingManager, type Material, Mesh,
  MeshStandardMaterial, type Object3D, Texture,
} from 'three';
import { type GLTF, GLTFLoader, type GLTFParser } from 'three/addons/loaders/GLTFLoader.js';
import { MeshoptDecoder } from 'three/addons/libs/meshopt_decoder.module.js';
import type { NamedFile, Part } from '../engine/protocol';
import { findFile } from '../io/paths';

/** What of a primitive is not moved by the engine. */
const KEPT: [attribute: string, name: string][] = [
  ['TEXCOORD_0', 'uv'], ['TEXCOORD_1', 'uv1'], ['TEXCOORD_2', 'uv2'], ['TEXCOORD_3', 'uv3'], ['COLOR_0', 'color'],
];
const TRANSPARENT_PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

interface Json {
  nodes?: { mesh?: number; skin?: number; camera?: number }[];
  meshes?: { primitives: Primitive[]; weights?: number[] }[];
  animations?: unknown;
  extensionsRequired?: string[];
}

interface Primitive {
  attributes: Record<string, number>;
  material?: number;
  targets?: unknown;
}

/** How one part looks: attributes beside position and normal, and its material. */
export interface PartLook {
  attributes: Record<string, BufferAttribute | InterleavedBufferAttribute>;
  material: Material;
}

/** What a glTF document says beside the skin: how parts look, and what else stands in the scene. */
export interface Look {
  parts: PartLook[];
  /** The document's scene without the parts. */
  props: Object3D | null;
  /** Objects of the scene by node. */
  nodes: Map<number, Object3D>;
  /** What could not be had, in words. */
  notes: string[];
}

/** Soft clay, for what has no material. */
export function clay(): MeshStandardMaterial {
  return new MeshStandardMaterial({ color: 0xd8b09a, roughness: 0.62, metalness: 0 });
}

export function plainLook(parts: Part[], notes: string[] = []): Look {
  const material = clay();
  return { parts: parts.map(() => ({ attributes: {}, material })), props: null, nodes: new Map(), notes };
}

/** Reads materials and props of a glTF. What the engine moves is not made: it is made from the engine's frames. */
export async function loadLook(main: NamedFile, files: NamedFile[], parts: Part[]): Promise<Look> {
  const urls: string[] = [];
  const missing = new Set<string>();
  const manager = new LoadingManager();
  manager.setURLModifier((url) => {
    if (url.startsWith('data:') || url.startsWith('blob:')) return url;
    const file = findFile(files, main.name, url);
    if (!file) missing.add(url);
    if (!file) return TRANSPARENT_PIXEL;
    const made = URL.createObjectURL(new Blob([file.bytes as Uint8Array<ArrayBuffer>]));
    urls.push(made);
    return made;
  });
  const taken = new Map<Part, Primitive>();
  const loader = new GLTFLoader(manager).setMeshoptDecoder(MeshoptDecoder);
  loader.register((parser) => {
    takeParts(parser.json as Json, parts, taken);
    return { name: 'PLIANT_parts' };
  });
  try {
    const bytes = main.bytes;
    const data = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
    const gltf = await loader.parseAsync(data, '');
    const looks = await Promise.all(parts.map((part) => partLook(gltf.parser, part, taken.get(part))));
    const notes = [...missing].map((url) => `${main.name} refers to ${url}, which was not dropped with it: left out`);
    return { parts: looks, props: gltf.scene, nodes: nodesOf(gltf), notes };
  } catch (error) {
    return plainLook(parts, [`Materials of ${main.name} could not be read (${(error as Error).message}): shown as clay`]);
  } finally {
    for (const url of urls) URL.revokeObjectURL(url);
  }
}

/** Frees what a look holds on the graphics card. */
export function disposeLook(look: Look): void {
  const materials = new Set(look.parts.map((part) => part.material));
  look.props?.traverse((object) => {
    if (!(object instanceof Mesh)) return;
    object.geometry.dispose();
    for (const material of [object.material].flat()) materials.add(material);
  });
  for (const material of materials) {
    for (const value of Object.values(material)) if (value instanceof Texture) value.dispose();
    material.dispose();
  }
}

/** Takes out of the document what the engine moves, and all motion. */
function takeParts(json: Json, parts: Part[], taken: Map<Part, Primitive>): void {
  delete json.animations;
  // Known to the engine, or it would have refused the file.
  delete json.extensionsRequired;
  const meshOf = new Map((json.nodes ?? []).map((node, i) => [i, node.mesh]));
  for (const part of parts) {
    const mesh = json.meshes?.[meshOf.get(part.node) ?? -1];
    const primitive = mesh?.primitives[part.primitive];
    if (primitive) taken.set(part, primitive);
  }
  const primitives = new Set(taken.values());
  (json.nodes ?? []).forEach((node, i) => {
    const mesh = json.meshes?.[node.mesh ?? -1];
    delete node.camera;
    if (!mesh) return;
    const own = parts.some((part) => part.node === i);
    const rest = own ? mesh.primitives.filter((primitive) => !primitives.has(primitive)) : mesh.primitives;
    if (node.skin !== undefined || rest.length === 0) {
      delete node.mesh;
    } else if (own) {
      json.meshes!.push({ primitives: rest });
      node.mesh = json.meshes!.length - 1;
    }
    delete node.skin;
  });
}

async function partLook(parser: GLTFParser, part: Part, primitive: Primitive | undefined): Promise<PartLook> {
  if (!primitive) return { attributes: {}, material: clay() };
  const count = part.vertices[1] - part.vertices[0];
  const attributes: PartLook['attributes'] = {};
  for (const [attribute, name] of KEPT) {
    const accessor = primitive.attributes[attribute];
    if (accessor === undefined) continue;
    const values = (await parser.getDependency('accessor', accessor)) as BufferAttribute;
    if (values.count === count) attributes[name] = values;
  }
  if (primitive.material === undefined) {
    const material = clay();
    material.vertexColors = 'color' in attributes;
    if (material.vertexColors) material.color.set(0xffffff);
    return { attributes, material };
  }
  // The loader decides on vertex colours and the like by what a mesh has.
  const geometry = new BufferGeometry();
  for (const [name, values] of Object.entries(attributes)) geometry.setAttribute(name, values);
  geometry.setAttribute('normal', new BufferAttribute(new Float32Array(3), 3));
  const mesh = new Mesh(geometry, (await parser.getDependency('material', primitive.material)) as Material);
  parser.assignFinalMaterial(mesh);
  return { attributes, material: mesh.material as Material };
}

function nodesOf(gltf: GLTF): Map<number, Object3D> {
  const nodes = new Map<number, Object3D>();
  gltf.scene.traverse((object) => {
    const node = gltf.parser.associations.get(object)?.nodes;
    if (node !== undefined && !nodes.has(node)) nodes.set(node, object);
  });
  return nodes;
}
