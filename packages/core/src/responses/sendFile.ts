import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { ResponseToolkit } from '@hapi/hapi';
import { type ByteRange, firstBytes, type OpenFile, type Request } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';
import { endWhenStalled } from '../http/connections/endWhenStalled.js';
import { hasUnreadBody, leaveBodyUnread } from '../http/connections/unreadBody.js';
import type { Log } from '../log.js';
import { checkPreconditions, mayUseRange, type Validators } from './preconditions.js';
import { parseRanges } from './ranges.js';
import { userFileHeaders } from './userFileHeaders.js';
import { type BeforeLast, ClientGone, writeBody, writeChunk } from './writeBody.js';

export interface SendOptions {
	/** The name under which the client saves it. */
	name: string;
	isInline: boolean;
	/** The client may cache it, but revalidates it each time. @default true */
	isKept?: boolean;
	log: Log;
	/** Called before a response that contains the first byte. */
	onFirstByte?: () => Promise<void>;
	/** The version that ranges without a condition are meant for; the file's own by default. */
	rangesOfVersion?: string;
	/** Where the proxy in front of us finds the file, if it shall send the bytes itself. */
	accelRedirect?: string | undefined;
	/** Headers of this response in addition to, or instead of, those of every user's file. */
	headers?: Readonly<Record<string, string>>;
}

/**
 * Answers a GET or HEAD with a file: whole, in one or several ranges, or not at all where a condition says so. Bytes go past hapi,
 * straight to the socket. Closes the file. Throws only before the first byte, which is read by then; a failure after it breaks the
 * connection, so that a truncated file is not taken for a whole one, nor one that another program has written to meanwhile.
 */
export async function sendFile(
	request: Request,
	h: ResponseToolkit,
	file: OpenFile,
	{
		name,
		isInline,
		isKept = true,
		log,
		onFirstByte,
		rangesOfVersion,
		accelRedirect,
		headers: ownHeaders = {},
	}: SendOptions,
) {
	const { res: response, req } = request.raw;
	try {
		const { size, mtime, version } = file.item;
		const validators: Validators = { etag: `"${version}"`, mtime };
		const outcome = checkPreconditions(req, validators);
		if (outcome === 'failed') throw new Failure('preconditionFailed', 'The file has changed.');
		endWhenStalled(response);
		if (hasUnreadBody(req)) leaveBodyUnread(req, response);
		const isPdf = isInline && (await firstBytes(file, 5)).toString('latin1') === '%PDF-';
		const headers: Record<string, string> = {
			...userFileHeaders({ name, isInline, isKept, isPdf }),
			etag: validators.etag,
			...(Number.isNaN(mtime) ? {} : { 'last-modified': new Date(mtime).toUTCString() }),
			...ownHeaders,
		};
		if (outcome === 'notModified') {
			response.writeHead(304, headers).end();
			return h.abandon;
		}
		const ranges =
			req.method === 'GET' && mayUseRange(req.headers, validators, rangesOfVersion && `"${rangesOfVersion}"`)
				? parseRanges(req.headers.range, size)
				: 'whole';
		if (ranges === 'unsatisfiable') {
			throw new Failure('badRange', 'The file has no such range.', { headers: { 'content-range': `bytes */${size}` } });
		}
		if (accelRedirect !== undefined) {
			// The proxy decides whether it accepts ranges.
			const { 'accept-ranges': _, ...others } = headers;
			response.writeHead(200, { ...others, 'x-accel-redirect': accelRedirect, 'content-length': 0 }).end();
			return h.abandon;
		}
		// A selection may be long, and the download longer.
		request.server.bodies.release(request);
		if (req.method === 'HEAD') {
			response.writeHead(200, { ...headers, 'content-length': size }).end();
			return h.abandon;
		}
		await using begun = await begin(file.read(ranges === 'whole' ? undefined : ranges[0]));
		const hasFirstByte = ranges === 'whole' || ranges.some(({ start }) => start === 0);
		if (hasFirstByte) await onFirstByte?.();
		if (ranges === 'whole') {
			response.writeHead(200, { ...headers, 'content-length': size });
			await writeBody(response, begun.chunks, beforeLast(file, size));
			response.end();
		} else await sendRanges(response, file, headers, ranges, begun.chunks);
	} catch (error) {
		if (!response.headersSent) throw error;
		const isNobodyLeft = error instanceof ClientGone || response.closed;
		if (!isNobodyLeft) log.warn({ err: error }, 'a download failed');
		response.destroy();
	} finally {
		await file.close();
	}
	return h.abandon;
}

/** Keeps the last chunk back where the file is not the one that was begun; what was only added to it is not in the answer. */
function beforeLast(file: OpenFile, length: number): BeforeLast {
	return {
		length,
		async check() {
			if (await file.isChanged({ mayGrow: true }))
				throw new Failure('conflict', 'The file was written to while it was sent.');
		},
	};
}

/** Reads the first chunk, so that an immediate failure becomes an error response. */
async function begin(body: AsyncIterable<Uint8Array>) {
	const source = body[Symbol.asyncIterator]();
	const first = source.next();
	await first;
	let isBegun = false;
	// No generator around the other one, which would make several promises more for each chunk.
	const next = () => {
		if (isBegun) return source.next();
		isBegun = true;
		return first;
	};
	return {
		chunks: { [Symbol.asyncIterator]: () => ({ next }) },
		async [Symbol.asyncDispose]() {
			await source.return?.();
		},
	};
}

async function sendRanges(
	response: ServerResponse,
	file: OpenFile,
	headers: Record<string, string>,
	ranges: readonly ByteRange[],
	begun: AsyncIterable<Uint8Array>,
): Promise<void> {
	const [first] = ranges;
	if (ranges.length === 1 && first !== undefined) {
		response.writeHead(206, {
			...headers,
			'content-range': contentRange(first, file),
			'content-length': lengthOf(first),
		});
		await writeBody(response, begun, beforeLast(file, lengthOf(first)));
	} else {
		await sendSeveralRanges(response, file, headers, ranges, begun);
	}
	response.end();
}

/** RFC 9110, section 14.6: each range is a part with its own header. */
async function sendSeveralRanges(
	response: ServerResponse,
	file: OpenFile,
	headers: Record<string, string>,
	ranges: readonly ByteRange[],
	begun: AsyncIterable<Uint8Array>,
): Promise<void> {
	const boundary = randomBytes(18).toString('base64url');
	const partHeader = (range: ByteRange) =>
		Buffer.from(
			`\r\n--${boundary}\r\nContent-Type: ${headers['content-type']}\r\nContent-Range: ${contentRange(range, file)}\r\n\r\n`,
		);
	const end = Buffer.from(`\r\n--${boundary}--\r\n`);
	const length = ranges.reduce((sum, range) => sum + partHeader(range).length + lengthOf(range), end.length);
	response.writeHead(206, {
		...headers,
		'content-type': `multipart/byteranges; boundary=${boundary}`,
		'content-length': length,
	});
	for (const [index, range] of ranges.entries()) {
		await writeChunk(response, partHeader(range));
		await writeBody(response, index === 0 ? begun : file.read(range), beforeLast(file, lengthOf(range)));
	}
	await writeChunk(response, end);
}

const lengthOf = ({ start, end }: ByteRange) => end - start + 1;

const contentRange = ({ start, end }: ByteRange, file: OpenFile) => `bytes ${start}-${end}/${file.item.size}`;
