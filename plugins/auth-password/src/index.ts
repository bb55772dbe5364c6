import { definePlugin, z } from '@stowage/plugin-api';
import { argon2Provider, loadArgon2 } from './argon2.js';

export const plugin = definePlugin({
	name: '@stowage/auth-password',
	version: '0.1.0',
	options: z.strictObject({
		memoryKiB: z.int().min(19_456).max(1_048_576).default(32_768),
		iterations: z.int().min(2).max(20).default(3),
		parallelism: z.int().min(1).max(16).default(1),
	}),
	needsHttp: false,
	async start(server, options) {
		server.providers.auth.register('password', argon2Provider(options));
		// A server that could sign nobody in does not start.
		server.ext('onPostStart', () => void loadArgon2());
	},
});
