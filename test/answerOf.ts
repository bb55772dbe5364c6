import { request } from 'node:http';

export interface Answer {
	status: number;
	headers: NodeJS.Dict<string>;
	body: Buffer;
}

/**
 * Sends a request on a connection of its own, and reads its whole answer, also one that comes before the body was sent: fetch takes the
 * close after it for a failure. Rejects where the connection breaks before the end.
 */
export function answerOf(
	url: URL,
	method: string,
	headers: Record<string, string> = {},
	body?: Buffer,
): Promise<Answer> {
	return new Promise((resolve, reject) => {
		const length = body === undefined ? {} : { 'content-length': `${body.length}` };
		const sent = request(url, { method, headers: { ...headers, ...length }, agent: false });
		sent.on('error', reject);
		sent.on('response', (answer) => {
			const parts: Buffer[] = [];
			// What can't be sent any more is of no interest.
			sent.off('error', reject).on('error', () => {});
			answer.on('data', (part: Buffer) => parts.push(part));
			answer.on('error', reject);
			const { statusCode: status = 0 } = answer;
			const given = answer.headers as NodeJS.Dict<string>;
			answer.on('end', () => resolve({ status, headers: given, body: Buffer.concat(parts) }));
		});
		sent.end(body);
	});
}
