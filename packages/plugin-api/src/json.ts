import type { IncomingMessage } from 'node:http';
import { Failure } from '@stowage/rules';

/** Longest time for the next 64 KB of a body, or what is left of it, before the answer is 408; a modem takes less. */
const stallMs = 10_000;
const stallBytes = 64 * 1024;

/** Deepest nesting accepted: our own payloads reach three levels. */
const maxDepth = 16;

/**
 * Reads a JSON object from a request whose body nobody has read. Throws `unsupportedMediaType` unless it is declared as plain `application/json`, `tooLarge` over
 * `maxBytes`, `timeout` when it stalls and `invalid` for what is no JSON object.
 */
export async function readJson(request: IncomingMessage, maxBytes: number): Promise<unknown> {
	const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
	if (type !== 'application/json') {
		throw new Failure('unsupportedMediaType', 'Send the request as application/json.');
	}
	const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
	if (encoding !== 'identity') {
		throw new Failure('unsupportedMediaType', 'Send the request without a Content-Encoding.');
	}
	const text = await readText(request, maxBytes);
	if (depthOf(text) > maxDepth) throw new Failure('invalid', 'The JSON of the request is nested too deeply.');
	try {
		return JSON.parse(text);
	} catch (cause) {
		throw new Failure('invalid', 'The request is not valid JSON.', { cause });
	}
}

function readText(request: IncomingMessage, maxBytes: number): Promise<string> {
	const tooLarge = () => new Failure('tooLarge', `The request is larger than ${maxBytes} bytes.`);
	if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.reject(tooLarge());
	if (request.destroyed) return Promise.reject(new Failure('invalid', 'The request ended early.'));
	return new Promise((resolve, reject) => {
		const chunks: Buffer[] = [];
		let size = 0;
		let sizeInTime = 0;
		const timer = setTimeout(() => settle(new Failure('timeout', 'The request took too long to arrive.')), stallMs);
		const onData = (chunk: Buffer) => {
			size += chunk.length;
			if (size > maxBytes) return settle(tooLarge());
			if (size - sizeInTime >= stallBytes) {
				sizeInTime = size;
				timer.refresh();
			}
			chunks.push(chunk);
		};
		const onEnd = () => settle();
		const onClose = () => settle(new Failure('invalid', 'The request ended early.'));
		function settle(failure?: Failure) {
			clearTimeout(timer);
			request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
			// Not resumed: a refused body stays unread, and the answer closes the connection.
			request.pause();
			if (failure) return reject(failure);
			try {
				resolve(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)));
			} catch (cause) {
				reject(new Failure('invalid', 'The request is not valid UTF-8.', { cause }));
			}
		}
		request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
	});
}

/** Deepest nesting of brackets outside strings. */
function depthOf(text: string): number {
	let depth = 0;
	let deepest = 0;
	let isInString = false;
	for (let at = 0; at < text.length; at++) {
		const character = text[at];
		if (isInString) {
			if (character === '\\') at++;
			else if (character === '"') isInString = false;
		} else if (character === '"') isInString = true;
		else if (character === '{' || character === '[') deepest = Math.max(deepest, ++depth);
		else if (character === '}' || character === ']') depth--;
	}
	return deepest;
}
