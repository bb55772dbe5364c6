import type { UserRecord } from '@stowage/plugin-api';
import { namedAccountFields } from '../audit/auditLine.js';
import type { Audit } from '../audit/createAudit.js';
import type { HomeMoves } from './createHomeMoves.js';

/** Wraps the service: each ordered move is written to the audit log. The audit line of its end is that of its job. */
export function auditedHomeMoves(
	moves: HomeMoves,
	audit: Audit,
	{ find }: { find(username: string): Promise<UserRecord> },
): HomeMoves {
	return {
		...moves,
		async start(username, rootName, options = {}) {
			const account = await namedAccountFields(find, username);
			return audit.recorded(
				{
					...{ action: 'moveHome', root: rootName },
					...account,
					...(options.allowsLostAccess ? { detail: 'other programs may lose access' } : {}),
				},
				() => moves.start(username, rootName, options),
				({ id }) => ({ job: id }),
			);
		},
	};
}
