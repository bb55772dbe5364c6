/** The most bytes of one stream of a document after decompression, or of any other list of numbers: 85 megapixels in three colours. */
export const maxUnpackedBytes = 256 * 1024 * 1024;
/** The most bytes of a picture as it is drawn; its pixels are bounded elsewhere, by the size that the document states. */
const maxDrawnBytes = 512 * 1024 * 1024;
/** Bytes of a compressed stream that are unpacked at once: a browser has the result, at most a thousand times as many, in memory. */
const pieceBytes = 16 * 1024;

/** Lists whose lengths a document names: the columns of a fax, the coefficients of a JPEG. */
const lists = ['Uint8Array', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array', 'Float32Array'] as const;

type List = (typeof lists)[number] | 'Uint8ClampedArray';
type Scope = Pick<typeof globalThis, List | 'DecompressionStream'>;

/**
 * Has pdf.js, which has no such setting, fail to unpack a stream that is larger, or to make a list that is: it takes
 * its memory from where the page has its own. What needs the stream is not drawn then, as after any other error in it. pdf.js doubles its
 * buffers as a stream grows, and decompresses with the browser's own means where it can.
 */
export function boundMemory(scope: Scope): void {
	for (const name of lists) boundList(scope, name, maxUnpackedBytes);
	boundList(scope, 'Uint8ClampedArray', maxDrawnBytes);
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

function boundList(scope: Scope, name: List, most: number): void {
	const list: object = new Proxy(scope[name], {
		construct(target, args, newTarget) {
			const [length] = args;
			if (typeof length === 'number' && length * target.BYTES_PER_ELEMENT > most) {
				throw new RangeError('There are too many bytes.');
			}
			return Reflect.construct(target, args, newTarget);
		},
	});
	Object.assign(scope, { [name]: list });
}
