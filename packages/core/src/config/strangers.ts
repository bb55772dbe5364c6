import type { Viewer } from '@stowage/rules';
import type { Config } from './schema.js';

/**
 * What people without an account can do on a server with a public https address, as a sentence; undefined if it is nothing that fills a
 * disk.
 */
export function strangersMay({
	publicUrl,
	visitors,
	registration,
}: Pick<Config, 'publicUrl' | 'visitors' | 'registration'>): string | undefined {
	if (!publicUrl.startsWith('https:')) return undefined;
	const permitted = [
		...(visitors === 'upload' ? ['upload files (visitors: upload)'] : []),
		...(registration === 'open' ? ['make accounts (registration: open)'] : []),
	];
	if (permitted.length === 0) return undefined;
	return `everybody who finds ${new URL(publicUrl).host} may ${permitted.join(' and ')}`;
}

/**
 * A caller without an account. What they may do is read at each use: a body may arrive for hours, and the setting may change meanwhile.
 */
export function visitorOf(config: Pick<Config, 'visitors'>): Viewer {
	return {
		kind: 'anonymous',
		get access() {
			return config.visitors;
		},
	};
}
