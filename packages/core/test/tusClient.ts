import { createHash } from 'node:crypto';
import type { Answer, Client } from './testApp.js';

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** The text of an `Upload-Metadata` header. */
export const metadata = (fields: Record<string, string>): string =>
	Object.entries(fields)
		.map(([key, value]) => `${key} ${base64(value)}`)
		.join(',');

export const checksum = (bytes: Buffer | string, algorithm = 'sha256'): Record<string, string> => ({
	'upload-checksum': `${algorithm} ${createHash(algorithm).update(bytes).digest('base64')}`,
});

const tus = { 'tus-resumable': '1.0.0' };
const chunkHeaders = { ...tus, 'content-type': 'application/offset+octet-stream' };

/** The requests of the tus protocol, with every header written out. */
export const create = (
	client: Client,
	length: number,
	fields: Record<string, string>,
	headers: Record<string, string> = {},
	body?: Buffer | string,
): Promise<Answer> =>
	client.call('POST', '/api/uploads', body, {
		...(body === undefined ? tus : chunkHeaders),
		'upload-length': String(length),
		'upload-metadata': metadata(fields),
		...headers,
	});

/** Creates an upload that must be accepted; resolves to its location. */
export async function begin(
	client: Client,
	length: number,
	fields: Record<string, string>,
	headers: Record<string, string> = {},
): Promise<string> {
	const answer = await create(client, length, fields, headers);
	if (answer.statusCode !== 201) throw new Error(`The upload was answered ${answer.statusCode}: ${answer.payload}`);
	return String(answer.headers.location);
}

export const patch = (
	client: Client,
	location: string,
	offset: number,
	body: Buffer | string,
	headers: Record<string, string> = {},
): Promise<Answer> =>
	client.call('PATCH', location, body, { ...chunkHeaders, 'upload-offset': String(offset), ...headers });

export const head = (client: Client, location: string, headers: Record<string, string> = {}): Promise<Answer> =>
	client.call('HEAD', location, undefined, { ...tus, ...headers });

export const remove = (client: Client, location: string): Promise<Answer> =>
	client.call('DELETE', location, undefined, tus);

/** The status, the offset and the path of the published entry, as a response has them. */
export const uploadState = ({ statusCode, headers }: Answer) => [
	statusCode,
	headers['upload-offset'] === undefined ? undefined : Number(headers['upload-offset']),
	headers['stowage-entry-path'],
];
