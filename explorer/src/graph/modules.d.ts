declare module "graphology-layout-forceatlas2/iterate" {
  export default function iterate(settings: Record<string, number | boolean>, nodes: Float32Array, links: Float32Array): void;
}
