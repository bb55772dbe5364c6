import { definePlugin, z } from '@stowage/plugin-api';
import { zipFormat } from './zipFormat.js';

/** Offers ZIP archives to whatever sends several files as one. */
export const plugin = definePlugin({
	name: '@stowage/zip',
	version: '0.1.0',
	options: z.strictObject({}),
	needsHttp: false,
	start(server) {
		server.providers.archive.register('zip', zipFormat(server.keyValues('zip-crc')));
	},
});
