import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { AnyEndpoint } from '@stowage/contract';
import type { Answer, TestApp } from '../../packages/core/test/testApp.js';

/** A call of an endpoint of the contract. */
export interface Call {
	endpoint: AnyEndpoint;
	/** Another one than the endpoint's: HEAD. */
	method?: string;
	/** What stands in the braces of its path. */
	params?: Record<string, string>;
	query?: Record<string, string>;
	payload?: unknown;
	headers?: Record<string, string>;
}

export type Request = Omit<Call, 'endpoint'>;

export type Send = (call: Call) => Promise<Answer>;

/** Sends a call as it is; of a stream of events the first part is the answer. `token` is that of the share. */
export async function send(
	{ server }: TestApp,
	{ endpoint, method = endpoint.method, params = {}, query = {}, payload, headers = {} }: Call,
	{ token, cookies }: { token: string; cookies: readonly string[] },
): Promise<Answer> {
	const given: Record<string, string> = { ...(endpoint.path.includes('/share/') ? { token } : {}), ...params };
	const filled = endpoint.path.replace(/\{(\w+)\*?\}/g, (_, key) =>
		encodeURIComponent(given[key] ?? '').replaceAll('%2F', '/'),
	);
	const search = new URLSearchParams(query).toString();
	const path = search === '' ? filled : `${filled}?${search}`;
	const { hostname, port } = new URL(server.info.uri);
	const body =
		payload === undefined || Buffer.isBuffer(payload) || typeof payload === 'string'
			? payload
			: JSON.stringify(payload);
	const sent = request({
		hostname,
		port,
		method,
		path,
		agent: false,
		headers: {
			...(cookies.length === 0 ? {} : { cookie: cookies.filter(Boolean).join('; ') }),
			...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
			...headers,
		},
	});
	sent.end(body);
	const [answer] = (await once(sent, 'response').catch((error) => {
		throw new Error(`${method} ${path} ${JSON.stringify(headers)} ${String(body)}`, { cause: error });
	})) as [IncomingMessage];
	const isStream = answer.headers['content-type']?.startsWith('text/event-stream') ?? false;
	if (isStream) answer.destroy();
	const bytes = isStream ? Buffer.alloc(0) : await buffer(answer);
	return { statusCode: answer.statusCode ?? 0, headers: answer.headers, payload: bytes.toString('latin1'), bytes };
}
