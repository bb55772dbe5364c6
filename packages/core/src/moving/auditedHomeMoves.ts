import type { UserRecord } from '@stowage/plugin-api';
import { accountFields } from '../audit/auditLine.js';
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
			const user = await find(username).catch(() => undefined);
			return audit.recorded(
				{
					...{ action: 'moveHome', root: rootName },
					...(user === undefined ? { account: username } : accountFields(user)),
					...(options.allowsLostAccess ? { detail: 'other programs may lose access' } : {}),
				},
				() => moves.start(username, rootName, options),
				({ id }) => ({ job: id }),
			);
		},
	};
}
