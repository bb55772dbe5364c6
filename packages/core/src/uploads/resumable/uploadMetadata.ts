import { schemas } from '@stowage/contract';
import { type OnConflict, parseInput, z } from '@stowage/plugin-api';
import { type Area, Failure, normalizeName, type StoragePath } from '@stowage/rules';
import { conflictOf } from '../../files/placing/placeItem.js';
import { trimBlanks } from '../../http/requests/trimBlanks.js';
import { requestedArea } from '../requestedArea.js';

/** The destination of an upload. */
export interface UploadMetadata {
	name: string;
	directory: StoragePath;
	/** Undefined where the client left it open. */
	area: Area | undefined;
	mtime: number | null;
	onConflict: OnConflict;
	/** The name of who sends it, as it was typed. */
	sender: string;
}

const metadataSchema = z.object({
	filename: z.string({ error: 'is missing' }),
	directory: schemas.path.optional(),
	type: schemas.area.optional(),
	isPublic: z.enum(['true', 'false'], 'must be true or false').optional(),
	lastModified: z
		.string()
		.regex(/^-?\d{1,15}$/, 'must be milliseconds since the epoch')
		.optional(),
	sender: z.string().optional(),
	...schemas.replacing,
});

/**
 * Reads `Upload-Metadata`. Keys that mean nothing to us are passed over: programs send many. Throws `invalid`,
 * `invalidName` or `invalidPath`.
 */
export function parseUploadMetadata(header: string): UploadMetadata {
	const wish = parseInput(metadataSchema, Object.fromEntries(metadataPairs(header)));
	return {
		name: normalizeName(wish.filename),
		directory: wish.directory ?? schemas.path.parse(''),
		area: requestedArea(wish),
		mtime: wish.lastModified === undefined ? null : Number(wish.lastModified),
		onConflict: conflictOf(wish),
		sender: wish.sender ?? '',
	};
}

function metadataPairs(header: string): Map<string, string> {
	const pairs = new Map<string, string>();
	for (const part of header.split(',')) {
		const [key = '', value = '', ...more] = trimBlanks(part).split(' ');
		if (key === '' && trimBlanks(header) === '') continue;
		if (key === '' || more.length > 0 || pairs.has(key)) throw notMetadata();
		pairs.set(key, decodeValue(value));
	}
	return pairs;
}

function decodeValue(value: string): string {
	if (!/^[A-Za-z0-9+/]*={0,2}$/.test(value)) throw notMetadata();
	try {
		return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(value, 'base64'));
	} catch (cause) {
		throw notMetadata(cause);
	}
}

function notMetadata(cause?: unknown): Failure {
	return new Failure('invalid', 'Upload-Metadata: must be pairs of a key and its value in base64', { cause });
}
