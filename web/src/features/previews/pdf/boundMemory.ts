/** Of one stream of a document after decompression, or of any other list of bytes: 85 megapixels in three colours. */
export const maxUnpackedBytes = 256 * 1024 * 1024;
/** Of a compressed stream at once. It becomes a thousand times as many at most, which a browser has in memory together. */
const pieceBytes = 16 * 1024;

type Scope = Pick<typeof globalThis, 'Uint8Array' | 'DecompressionStream'>;

/**
 * Has pdf.js, which has no such setting, fail to unpack a stream that is larger: it takes its memory from where the
 * page has its own. What needs the stream is not drawn then, as after any other error in it. pdf.js doubles its
 * buffers as a stream grows, and decompresses with the browser's own means where it can.
 */
export function boundMemory(scope: Scope): void {
	scope.Uint8Array = new Proxy(scope.Uint8Array, {
		construct(target, args, newTarget) {
			const [length] = args;
			if (typeof length === 'number' && length > maxUnpackedBytes) throw new RangeError('There are too many bytes.');
			return Reflect.construct(target, args, newTarget);
		},
	});
	// Without it pdf.js does that by itself.
	if (!('DecompressionStream' in scope)) return;
	const { DecompressionStream: Decompression } = scope;
	scope.DecompressionStream = class {
		readonly writable: WritableStream<BufferSource>;
		readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;

		constructor(format: CompressionFormat) {
			const inPieces = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
				transform(bytes, controller) {
					for (let at = 0; at < bytes.length; at += pieceBytes) controller.enqueue(bytes.subarray(at, at + pieceBytes));
				},
			});
			let left = maxUnpackedBytes;
			const counted = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
				transform(bytes, controller) {
					left -= bytes.length;
					if (left < 0) throw new RangeError('There are too many bytes.');
					controller.enqueue(bytes);
				},
			});
			this.writable = inPieces.writable as WritableStream<BufferSource>;
			this.readable = inPieces.readable.pipeThrough(new Decompression(format)).pipeThrough(counted);
		}
	};
}
