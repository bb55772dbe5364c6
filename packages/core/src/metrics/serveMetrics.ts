import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Log } from '../log.js';
import { contentType, expositionText, type Family } from './exposition.js';

export interface MetricsServer {
	/** Such as `http://127.0.0.1:9464/metrics`. */
	address: string;
	close(): Promise<void>;
}

const maxConnections = 16;

/** Serves what `read` reads to Prometheus, at an address of its own such as `127.0.0.1:9464`. */
export async function serveMetrics(listen: string, read: () => Promise<Family[]>, log: Log): Promise<MetricsServer> {
	/** Several that read at once get the same. */
	let reading: Promise<string> | undefined;
	const readOnce = () => {
		reading ??= read()
			.then(expositionText)
			.finally(() => {
				reading = undefined;
			});
		return reading;
	};
	const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
		const end = (status: number, type: string, text: string, headers = {}) =>
			response.writeHead(status, { 'content-type': type, 'x-content-type-options': 'nosniff', ...headers }).end(text);
		if (request.url?.split('?', 1)[0] !== '/metrics')
			return void end(404, 'text/plain', 'There is only /metrics here.\n');
		if (request.method !== 'GET') return void end(405, 'text/plain', 'Only GET.\n', { allow: 'GET' });
		end(200, contentType, await readOnce());
	};
	const listener = http.createServer({ requestTimeout: 10_000, headersTimeout: 5000 }, (request, response) => {
		answer(request, response).catch((error: unknown) => {
			log.error({ err: error }, 'the metrics could not be read');
			response.writeHead(500).end();
		});
	});
	listener.maxConnections = maxConnections;
	const { host, port } = addressOf(listen);
	listener.listen(port, host);
	await once(listener, 'listening');
	const { address, family, port: actual } = listener.address() as AddressInfo;
	return {
		address: `http://${family === 'IPv6' ? `[${address}]` : address}:${actual}/metrics`,
		async close() {
			const closed = once(listener, 'close');
			listener.close();
			listener.closeAllConnections();
			await closed;
		},
	};
}

/** The parts of `127.0.0.1:9464` or `[::1]:9464`, as the schema has let it through. */
function addressOf(listen: string): { host: string; port: number } {
	const at = listen.lastIndexOf(':');
	return { host: listen.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(listen.slice(at + 1)) };
}
