import { once } from 'node:events';
import net from 'node:net';

type Teardown = { teardown(end: () => Promise<void>): void };

/** A proxy that throttles the responses of a server to `bytesPerSecond`; returns its URL. It ends with the test. */
export async function slowConnection(t: Teardown, url: string, bytesPerSecond: number): Promise<string> {
	const { hostname, port, pathname } = new URL(url);
	const sockets = new Set<net.Socket>();
	const proxy = net.createServer((client) => {
		const upstream = net.connect(Number(port), '127.0.0.1');
		for (const [socket, other] of [
			[client, upstream],
			[upstream, client],
		] as const) {
			sockets.add(socket);
			socket.on('error', () => {});
			socket.on('close', () => {
				sockets.delete(socket);
				other.destroy();
			});
		}
		client.pipe(upstream);
		upstream.on('data', (chunk) => {
			client.write(chunk);
			upstream.pause();
			setTimeout(() => upstream.resume(), (chunk.length / bytesPerSecond) * 1000);
		});
		upstream.on('end', () => client.end());
	});
	proxy.listen(0, '127.0.0.1');
	await once(proxy, 'listening');
	t.teardown(async () => {
		proxy.close();
		for (const socket of sockets) socket.destroy();
	});
	return `http://${hostname}:${(proxy.address() as net.AddressInfo).port}${pathname === '/' ? '' : pathname}`;
}
