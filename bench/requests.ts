import { execFile } from 'node:child_process';
import http from 'node:http';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Where files are fetched from. */
export interface Source {
	url: string;
	headers: Readonly<Record<string, string>>;
}

export interface Sending {
	method: string;
	agent: http.Agent;
	headers: Readonly<Record<string, string | number>>;
	body?: Buffer;
}

/** Sends a request and reads its answer. Throws unless it succeeds. */
export async function send(url: string, { method, agent, headers, body }: Sending): Promise<http.IncomingMessage> {
	const answer = await new Promise<http.IncomingMessage>((resolve, reject) => {
		const length = { 'content-length': body?.length ?? 0 };
		const request = http.request(url, { agent, method, headers: { ...(method === 'GET' ? {} : length), ...headers } });
		request.on('response', resolve).on('error', reject);
		request.end(body);
	});
	const text = await buffer(answer);
	if ((answer.statusCode ?? 0) >= 300) throw new Error(`${method} was answered ${answer.statusCode}: ${text}`);
	return answer;
}

/** Fetches and drops all of it by curl, so many URLs at once; it fails if a byte is missing. Numbers in brackets are a range. */
export async function fetchAll({ url, headers }: Source, atOnce = 1): Promise<void> {
	const options = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
	const parallel = ['--parallel', '--parallel-immediate', '--parallel-max', String(atOnce)];
	await run('curl', ['-sSf', ...options, ...(atOnce > 1 ? parallel : []), '-o', '/dev/null', url]);
}

/**
 * Milliseconds until the first byte of the answer's body, and until its end. The connection is kept, unless it is
 * dropped after the first byte.
 */
export function fetchTimed(
	{ url, headers }: Source,
	agent: http.Agent,
	{ isDropped = false, extra = {} }: { isDropped?: boolean; extra?: Record<string, string> } = {},
): Promise<{ first: number; whole: number; bytes: number }> {
	const begun = performance.now();
	return new Promise((resolve, reject) => {
		const request = http.get(url, { agent, headers: { ...headers, ...extra } }, (answer) => {
			let first = 0;
			let bytes = 0;
			if ((answer.statusCode ?? 0) >= 300) reject(new Error(`${url} was answered ${answer.statusCode}.`));
			const end = () => resolve({ first, whole: performance.now() - begun, bytes });
			answer.on('data', (chunk: Buffer) => {
				if (first === 0) first = performance.now() - begun;
				bytes += chunk.length;
				if (!isDropped) return;
				end();
				request.destroy();
			});
			answer.on('end', end);
			answer.on('error', (error) => (isDropped ? undefined : reject(error)));
		});
		request.on('error', (error) => (isDropped ? undefined : reject(error)));
	});
}
