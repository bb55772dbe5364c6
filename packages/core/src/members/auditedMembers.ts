import type { Audit } from '../audit/createAudit.js';
import type { Members, MembershipChange } from './createMembers.js';

/** What of a text stays whole in a line that is cut. */
const detailBytes = 600;

/** Wraps the service: each change is written to the audit log. */
export function auditedMembers(members: Members, audit: Audit): Members {
	return {
		...members,
		set: (viewer, path, wanted) => {
			const event = { action: 'setMembers', viewer, area: 'private', path } as const;
			return audit.recorded(
				event,
				() => members.set(viewer, path, wanted),
				({ members: made, changes }) => {
					const [first, ...further] = detailsOf(changes).map((detail) => ({ detail, entries: made.length }));
					for (const each of further) audit.record({ ...event, ...each }, { outcome: 'ok' });
					return first;
				},
			);
		},
		leave: (viewer, path) =>
			audit.recorded(
				{ action: 'leaveFolder', viewer, area: 'shared', path },
				() => members.leave(viewer, path),
				(owner) => ({ owner }),
			),
	};
}

/** All changes by name, of each line as many as no line is cut for. Only of what has changed, which a long list of others would hide. */
function detailsOf(changes: readonly MembershipChange[]): string[] {
	const details: string[] = [];
	for (const { username, role = 'removed' } of changes) {
		const last = details.at(-1);
		const joined = `${last}, ${username} ${role}`;
		if (last === undefined || Buffer.byteLength(joined) > detailBytes) details.push(`${username} ${role}`);
		else details[details.length - 1] = joined;
	}
	return details;
}
