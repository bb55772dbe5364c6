/// <reference lib="webworker" />
import { pictureIn } from './picture.js';

const scope = globalThis as unknown as DedicatedWorkerGlobalScope;

scope.onmessage = ({ data }: MessageEvent<Uint8Array>) => scope.postMessage(pictureIn(data));
