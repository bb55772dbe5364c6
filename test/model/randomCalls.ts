import type { Actor, Area, Expected, FileModel, ModelRow, ModelVersion, NamedOwner, Trashed } from './FileModel.js';

export interface Call {
	actor: Actor;
	method: 'GET' | 'POST' | 'PUT' | 'DELETE';
	path: string;
	/** JSON, or a form where there is a file. */
	body?: Record<string, unknown>;
	file?: { name: string; content: string };
	/** Does the same in the model and returns the expected answer. */
	inModel: (model: FileModel) => Expected & {
		rows?: ModelRow[];
		content?: string | null;
		restored?: string;
		failed?: string;
		versions?: readonly ModelVersion[];
		/** Names and roles. */
		members?: readonly string[];
	};
	/** Gets the JSON of the answer to a successful call. */
	onAnswer?: (answer: { trashId?: string; versions?: { id: string }[] }) => void;
}

/** Deletes an item, which is then in the trash under the id of the answer. */
export function removeCall(actor: Actor, type: Area, filePath: string, owner: NamedOwner): Call {
	let removed: Trashed | undefined;
	return {
		actor,
		method: 'DELETE',
		path: '/api/deleteItem',
		body: { filePath, type, ...(owner === undefined ? {} : { owner }) },
		inModel(model) {
			const answer = model.remove(actor, type, filePath, owner);
			if (answer.status === 200) removed = model.trash.at(-1);
			return answer;
		},
		onAnswer({ trashId }) {
			if (removed !== undefined && trashId !== undefined) removed.id = trashId;
		},
	};
}

export function restoreCall(actor: Actor, item: Trashed): Call {
	const body = { ids: [item.id] };
	return { actor, method: 'POST', path: '/api/trash/restore', body, inModel: (m) => m.restore(actor, item) };
}

/** Lists the versions of a file, whose ids the model knows after it. */
function versionsCall(actor: Actor, type: Area, path: string): Call {
	let listed: readonly ModelVersion[] = [];
	return {
		actor,
		method: 'GET',
		path: `/api/versions/${path.split('/').map(encodeURIComponent).join('/')}?type=${type}`,
		inModel(model) {
			const answer = model.listVersions(actor, type, path);
			listed = answer.versions ?? [];
			return answer;
		},
		onAnswer({ versions = [] }) {
			for (const [n, version] of listed.entries()) {
				const id = versions[n]?.id;
				if (id !== undefined) version.id = id;
			}
		},
	};
}

/** Pseudorandom numbers, the same for the same seed. */
export function seededNumbers(seed: number): () => number {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}

/** Few, so that they often collide; some are special and some are refused. */
const names = [
	'a',
	'b',
	'A',
	'c.txt',
	'd.tar.gz',
	'.env',
	'Public',
	' e ',
	'é',
	'e\u0301',
	'日本 🎉',
	'-rf',
	'x:y',
	'',
	' ',
];

export function randomCall(next: () => number, model: FileModel, users: readonly string[]): Call {
	const actor: Actor = next() < 0.15 ? undefined : users[Math.floor(next() * users.length)];
	return randomCallBy(actor, next, model, users);
}

/** A call by `actor` on trees of about `maxNodes` files and folders. */
export function randomCallBy(
	actor: Actor,
	next: () => number,
	model: FileModel,
	users: readonly string[],
	{ maxNodes = 150, areas = ['private', 'public'] }: { maxNodes?: number; areas?: readonly Area[] } = {},
): Call {
	const pick = <T>(values: readonly T[]): T => values[Math.floor(next() * values.length)] as T;
	const area = (): Area => pick(areas);
	const somePath = (of: Area): string => {
		const known = model.paths(actor, of);
		if (next() < 0.75 && known.length > 0) return pick(known);
		const depth = 1 + Math.floor(next() * 3);
		return Array.from({ length: depth }, () => pick(names.filter((name) => name.trim() !== ''))).join('/');
	};
	const someFolder = (of: Area) => (next() < 0.4 ? '' : somePath(of));
	const inside = (folder: string, name: string) => (folder === '' ? name : `${folder}/${name}`);
	const someOwner = (): NamedOwner => {
		if (next() < 0.6) return undefined;
		return next() < 0.5 ? (actor ?? null) : pick([...users, 'anonymous', null]);
	};
	const named = (owner: NamedOwner) => (owner === undefined ? {} : { owner });
	const query = (values: Record<string, NamedOwner>) => {
		const search = new URLSearchParams();
		for (const [key, value] of Object.entries(values)) if (value !== undefined) search.set(key, value ?? '');
		return search;
	};

	/** Mostly one that is the caller's, and sometimes one that is in no trash. */
	const someTrashed = (): Trashed => {
		const known = model.trash.filter(({ id, actor: of }) => id !== undefined && (of === actor || next() < 0.1));
		const none = {
			...{ actor: '', by: '', path: '', id: 'f'.repeat(32) },
			...{ nodes: new Map(), versions: new Map(), folders: new Map() },
		};
		return known.length > 0 && next() < 0.95 ? pick(known) : none;
	};

	/** Mostly a file that has versions, and one of them whose id is known. */
	const someVersion = (of: Area): { path: string; id: string } => {
		const known = model.knownVersions(actor, of);
		const none = { path: somePath(of), id: 'e'.repeat(32) };
		const { path, id } = known.length > 0 && next() < 0.9 ? pick(known) : none;
		return { path, id: id === '' || next() < 0.05 ? none.id : id };
	};

	const type = area();
	const makers: (() => Call)[] = [
		() => {
			const [directory, name] = [someFolder(type), pick(names)];
			return {
				actor,
				method: 'POST',
				path: '/api/createFolder',
				body: { directory, folderName: name, type },
				inModel: (m) => m.createFolder(actor, type, directory, name),
			};
		},
		() => {
			const [directory, name] = [someFolder(type), pick(names.filter((each) => each !== ''))];
			const content = `${name}${Math.floor(next() * 1e6)}`.replaceAll(/[^ -~]/g, '');
			const fields = actor === undefined && type === 'public' ? { directory } : { directory, type };
			return {
				actor,
				method: 'POST',
				path: actor === undefined && type === 'public' ? '/api/upload/public' : '/api/upload',
				body: fields,
				file: { name, content },
				inModel: (m) => m.upload(actor, type, directory, name, content),
			};
		},
		() => {
			const [oldPath, newName, owner] = [somePath(type), pick(names), someOwner()];
			return {
				actor,
				method: 'POST',
				path: '/api/renameItem',
				body: { oldPath, newName, type, ...named(owner) },
				inModel: (m) => m.rename(actor, type, oldPath, newName, owner),
			};
		},
		() => {
			const [fromPath, owner] = [somePath(type), someOwner()];
			const name = next() < 0.7 ? fromPath.slice(fromPath.lastIndexOf('/') + 1) : pick(['a', 'c.txt', ' e ', 'x:y']);
			const toPath = inside(someFolder(type), name);
			return {
				actor,
				method: 'POST',
				path: '/api/moveItem',
				body: { fromPath, toPath, type, ...named(owner) },
				inModel: (m) => m.move(actor, type, fromPath, toPath, owner),
			};
		},
		() => {
			const fromType = area();
			const [fromPath, owner] = [somePath(fromType), someOwner()];
			const toPath = inside(someFolder(type), fromPath.slice(fromPath.lastIndexOf('/') + 1));
			return {
				actor,
				method: 'POST',
				path: '/api/copyItem',
				body: { fromPath, toPath, type, fromType, ...named(owner) },
				inModel: (m) => m.copy(actor, fromType, fromPath, type, toPath, owner),
			};
		},
		() => {
			const [filePath, owner] = [somePath(type), someOwner()];
			return removeCall(actor, type, filePath, owner);
		},
		() => restoreCall(actor, someTrashed()),
		() => {
			const item = someTrashed();
			// One of ten: what is restored is more to be tested.
			if (next() < 0.9) return restoreCall(actor, item);
			return { actor, method: 'DELETE', path: `/api/trash/${item.id}`, inModel: (m) => m.purge(actor, item) };
		},
		() => {
			const by = actor ?? (users[0] as string);
			const known = model.paths(by, type).filter((path) => !path.endsWith('/'));
			const chosen = next() < 0.7 && known.length > 0 ? pick(known) : inside(someFolder(type), pick(names));
			const at = chosen.lastIndexOf('/');
			const [directory, name] = [chosen.slice(0, Math.max(0, at)), chosen.slice(at + 1)];
			const content = `${name}${Math.floor(next() * 1e6)}`.replaceAll(/[^ -~]/g, '');
			const ifMatch = next() < 0.7 ? undefined : pick(['*', '"older"'] as const);
			return {
				actor: by,
				method: 'POST',
				path: '/api/upload',
				body: { directory, type, onConflict: 'replace', ...(ifMatch === undefined ? {} : { ifMatch }) },
				file: { name, content },
				inModel: (m) => m.replace(by, type, directory, name, content, ifMatch),
			};
		},
		() => versionsCall(actor, type, someVersion(type).path),
		() => {
			const { path, id } = someVersion(type);
			const address = path.split('/').map(encodeURIComponent).join('/');
			return {
				actor,
				method: 'GET',
				path: `/api/download/${address}?type=${type}&version=${id}`,
				inModel: (m) => m.downloadVersion(actor, type, path, id),
			};
		},
		() => {
			const { path: filePath, id } = someVersion(type);
			// One of ten: what is restored is more to be tested.
			if (next() < 0.1)
				return { actor, method: 'DELETE', path: `/api/versions/${id}`, inModel: (m) => m.purgeVersion(actor, id) };
			return {
				actor,
				method: 'POST',
				path: '/api/versions/restore',
				body: { filePath, type, id },
				inModel: (m) => m.restoreVersion(actor, type, filePath, id),
			};
		},
		() => {
			const directory = someFolder(type);
			const isVisitor = actor === undefined && type === 'public';
			return {
				actor,
				method: 'GET',
				path: isVisitor ? `/api/browse/public?${query({ directory })}` : `/api/browse?${query({ type, directory })}`,
				inModel: (m) => m.list(actor, type, directory),
			};
		},
		() => {
			const [directory, search] = [someFolder(type), pick(['a', 'TXT', ' (1)', '🎉', 'zzz'])];
			const isVisitor = actor === undefined && type === 'public';
			return {
				actor,
				method: 'GET',
				path: isVisitor
					? `/api/browse/public?${query({ directory, search })}`
					: `/api/browse?${query({ type, directory, search })}`,
				inModel: (m) => m.search(actor, type, directory, search),
			};
		},
		() => {
			const [path, owner] = [somePath(type), someOwner()];
			const address = path.split('/').map(encodeURIComponent).join('/');
			return {
				actor,
				method: 'GET',
				path: `/api/download/${address}?${query({ type, owner })}`,
				inModel: (m) => m.download(actor, type, path, owner),
			};
		},
	];
	// A tree that only grows soon holds copies of copies.
	const count = model.nodes.size;
	const index = count > maxNodes && next() < 0.5 ? 5 : Math.floor(next() * makers.length);
	return (makers[index] as () => Call)();
}
