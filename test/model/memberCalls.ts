import type { Actor, Role } from './FileModel.js';
import type { MemberModel } from './MemberModel.js';
import type { Call } from './randomCalls.js';

/** A call about the members of folders, by a user who has some or is one. */
export function memberCall(actor: Actor, next: () => number, model: MemberModel, users: readonly string[]): Call {
	const pick = <T>(values: readonly T[]): T => values[Math.floor(next() * values.length)] as T;
	const inModel = (call: (model: MemberModel) => ReturnType<Call['inModel']>) => () => call(model);
	const own = model.paths(actor, 'private');
	const shared = model.paths(actor, 'shared');
	const somePath = (paths: readonly string[]) => (paths.length > 0 && next() < 0.9 ? pick(paths) : 'none');
	const chance = next();
	if (chance < 0.15) {
		const path = next() < 0.8 ? (pick(shared.filter((each) => !each.includes('/'))) ?? 'none') : somePath(shared);
		const query = new URLSearchParams({ path });
		return { actor, method: 'DELETE', path: `/api/members?${query}`, inModel: inModel((m) => m.leave(actor, path)) };
	}
	if (chance < 0.4) {
		const type = pick(['private', 'shared'] as const);
		const path = somePath(type === 'private' ? own : shared);
		const query = new URLSearchParams({ path, type });
		const url = `/api/members?${query}`;
		return { actor, method: 'GET', path: url, inModel: inModel((m) => m.listMembers(actor, type, path)) };
	}
	const folders = own.filter((path) => model.isFolderOf(actor, path));
	const path = somePath(next() < 0.9 ? folders : own);
	const others = users.filter((user) => user !== actor && next() < 0.5);
	const named = next() < 0.95 ? others : [...others, pick([...users, 'nobody'])];
	const members = named.map((user): [string, Role] => [user, next() < 0.6 ? 'edit' : 'view']);
	const body = { path, members: members.map(([user, role]) => ({ username: model.nameOf(user), role })) };
	return {
		...{ actor, method: 'PUT', path: '/api/members', body },
		inModel: inModel((m) => {
			const { status } = m.setMembers(actor, path, members);
			return { status, ...(status === 200 ? { members: m.listMembers(actor, 'private', path).members ?? [] } : {}) };
		}),
	};
}
