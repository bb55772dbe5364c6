import type { Request } from '@stowage/plugin-api';
import type { Config } from '../../config/schema.js';

/** What people reach the server by: `https://files.example`. */
export function publicOrigin({ publicUrl }: Pick<Config, 'publicUrl'>, { client }: Pick<Request, 'client'>): string {
	if (publicUrl !== '') return new URL(publicUrl).origin;
	return `${client.isHttps ? 'https' : 'http'}://${client.host}`;
}
