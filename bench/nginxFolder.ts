import { startNginx } from '../test/nginx.js';
import { ownAddress } from '../test/ownAddress.js';

/** nginx with sendfile over one folder, which it lists as JSON. */
export async function serveFolder(folder: string): Promise<{ url: string; stop(): Promise<void> }> {
	const address = `${ownAddress()}:7421`;
	const { stop } = await startNginx(
		address,
		[
			'sendfile on; tcp_nopush on; keepalive_requests 1000000;',
			`server { listen ${address}; root ${folder}; autoindex on; autoindex_format json; }`,
		].join(' '),
	);
	return { url: `http://${address}`, stop };
}
