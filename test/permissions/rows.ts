import type * as contract from '@stowage/contract';
import type { Client } from '../../packages/core/test/testApp.js';
import type { Request, Send } from './call.js';
import type { Place } from './items.js';
import { password, type Role } from './people.js';
import {
	areaOf,
	chunk,
	conversion,
	conversionOf,
	fileIn,
	fileName,
	jobOf,
	joined,
	linkIdOf,
	linkOf,
	multipart,
	oldVersion,
	selection,
	sentTo,
	sessionOf,
	shareOf,
	ticketOf,
	transfer,
	trashed,
	tus,
	tusRequest,
	uploadOf,
	viewerLinkOf,
} from './requests.js';

/** About a private item. */
export interface AboutItem {
	about: 'item';
	/**
	 * Who may: who reads it, who may change it, its owner alone, its members other than the owner, or whoever has the address that the owner
	 * got. `nobody`: the call is about other areas, whatever is written into it.
	 */
	right: 'read' | 'write' | 'own' | 'member' | 'bearer' | 'nobody';
	/** What its owner does before; resolves to the id or token that the call is about. */
	made?(owner: Client, place: Place): Promise<string>;
	request(place: Place, id: string): Request;
	/** The status for who may, where it is not a success: the file is no film and has no picture. */
	allowed?: number;
	/** The statuses for who may not, where they are not the usual ones. 202: the job that it starts fails. */
	refused?: number | Partial<Record<Refused, number>>;
}

/** Who has no account, who has one and no role, and members. */
export type Refused = 'visitor' | Role;

/** About an item of a share, by its path in the share. */
export interface AboutShare {
	about: 'share';
	/** What the share has to be: there (`open`), opened (`look`), one that shows files, one that receives them. */
	right: 'open' | 'look' | 'read' | 'send';
	/** What the same client has sent before. */
	made?(send: Send): Promise<string>;
	request(folder: string, id: string): Request;
	allowed?: number;
}

/** About the account of who calls, which is given something of Ada's that could be mistaken for the caller's. */
export interface AboutAccount {
	about: 'account';
	made?(owner: Client): Promise<string>;
	request(id: string): Request;
	/** Where it is not a success. */
	status?: number;
}

/** For everybody, about nobody. */
export interface AboutNobody {
	about: 'nobody';
	request(): Request;
	status?: number;
}

export type Row = AboutItem | AboutShare | AboutAccount | AboutNobody;

type EndpointName = {
	[Name in keyof typeof contract]: (typeof contract)[Name] extends contract.AnyEndpoint ? Name : never;
}[keyof typeof contract];

const byId: AboutItem['request'] = (_, id) => ({ params: { id } });
const item = (right: AboutItem['right'], request: AboutItem['request'], more: Partial<AboutItem> = {}): AboutItem => ({
	...{ about: 'item', right, request },
	...more,
});
const made = (
	make: NonNullable<AboutItem['made']>,
	right: AboutItem['right'],
	request = byId,
	more: Partial<AboutItem> = {},
) => item(right, request, { made: make, ...more });
const share = (
	right: AboutShare['right'],
	request: AboutShare['request'],
	more: Partial<AboutShare> = {},
): AboutShare => ({
	...{ about: 'share', right, request },
	...more,
});
const account = (request: AboutAccount['request'] = () => ({}), more: Partial<AboutAccount> = {}): AboutAccount => ({
	...{ about: 'account', request },
	...more,
});
const nobody = (request: AboutNobody['request'] = () => ({}), status?: number): AboutNobody => ({
	...{ about: 'nobody', request },
	...(status === undefined ? {} : { status }),
});

/** Every call of the contract: what it is about, and who may. */
export const rows: Record<EndpointName, readonly [Row, ...Row[]]> = {
	browse: [
		item('read', ({ type, folder }) => ({ query: { type, directory: folder } })),
		item('read', ({ type, folder }) => ({ query: { type, directory: folder, search: 'marker' } })),
	],
	browsePublic: [
		item('nobody', ({ folder }) => ({ query: { directory: folder } }), { refused: 404 }),
		item('nobody', () => ({ query: { search: 'marker' } }), { refused: 200 }),
	],
	events: [item('read', ({ type, folder }) => ({ query: { type, directory: folder } }))],
	download: [
		item('read', (place) => ({ params: { path: fileIn(place) }, query: areaOf(place) })),
		item('read', (place) => ({ params: { path: place.folder }, query: areaOf(place) })),
		made(oldVersion, 'write', (place, version) => ({
			params: { path: fileIn(place) },
			query: { type: place.type, version },
		})),
	],
	thumbnail: [
		item('read', (place) => ({ params: { path: fileIn(place) }, query: { ...areaOf(place), size: '256' } }), {
			allowed: 415,
		}),
	],
	downloadZip: [item('read', selection)],
	makeTicket: [item('read', selection)],
	downloadByTicket: [made(ticketOf, 'bearer', (_, ticket) => ({ params: { ticket } }), { refused: 410 })],
	endTicket: [made(ticketOf, 'bearer', (_, ticket) => ({ params: { ticket } }), { refused: 410 })],
	viewerLink: [item('read', (place) => ({ payload: { path: `${place.folder}/marker.docx`, ...areaOf(place) } }))],
	followViewerLink: [
		made(viewerLinkOf, 'bearer', (_, token) => ({ params: { token, name: 'marker.docx' } }), { refused: 404 }),
	],

	upload: [item('write', ({ folder, type }) => multipart({ directory: folder, type }))],
	uploadPublic: [
		item('nobody', ({ folder }) => multipart({ directory: folder }), {
			refused: { visitor: 403 },
		}),
	],
	createUpload: [item('write', ({ type, folder }) => tusRequest({ filename: 'sent.txt', directory: folder, type }))],
	inspectUpload: [made(uploadOf, 'own', (_, id) => ({ method: 'HEAD', params: { id }, headers: tus }))],
	writeUpload: [made(uploadOf, 'own', (_, id) => ({ params: { id }, headers: chunk, payload: 'text' }))],
	removeUpload: [made(uploadOf, 'own', (_, id) => ({ params: { id }, headers: tus }))],
	createFolder: [item('write', ({ type, folder }) => ({ payload: { directory: folder, folderName: 'new', type } }))],
	createFile: [item('write', ({ type, folder }) => ({ payload: { directory: folder, fileName: 'new.txt', type } }))],
	deleteItem: [
		item('write', (place) => ({ payload: { filePath: fileIn(place), ...areaOf(place) } })),
		item('own', (place) => ({ payload: { filePath: fileIn(place), ...areaOf(place), permanent: true } }), {
			refused: { view: 403, edit: 403 },
		}),
	],
	moveItem: [
		item('write', (place) => ({
			payload: { fromPath: fileIn(place), toPath: `${place.folder}/sub/fox.mp4`, ...areaOf(place) },
		})),
	],
	copyItem: [
		item('read', (place) => {
			const { type: fromType, ...owner } = areaOf(place);
			return { payload: { fromPath: fileIn(place), fromType, toPath: 'copy.mp4', type: 'private', ...owner } };
		}),
		item('write', (place) => ({
			payload: { fromPath: fileIn(place), toPath: `${place.folder}/copied.mp4`, ...areaOf(place) },
		})),
	],
	renameItem: [
		item('write', (place) => ({ payload: { oldPath: fileIn(place), newName: 'renamed.mp4', ...areaOf(place) } })),
	],
	startJob: [item('read', transfer('copy'), { refused: { none: 202 } }), item('write', transfer('move'))],
	jobs: [account()],
	findJob: [made(jobOf, 'own')],
	cancelJob: [made(jobOf, 'own')],
	retryJob: [item('own', byId, { made: jobOf, allowed: 409 })],
	handbrakeCheck: [account()],
	handbrakeConvert: [item('write', (place) => ({ payload: conversion(place) }))],
	handbrakeStatus: [made(conversionOf, 'own', (_, conversionId) => ({ params: { conversionId } }))],
	handbrakeCancel: [made(conversionOf, 'own', (_, conversionId) => ({ params: { conversionId }, payload: {} }))],

	listTrash: [account()],
	emptyTrash: [account()],
	restoreTrash: [
		item('own', (_, id) => ({ payload: { ids: [id] } }), {
			made: trashed,
			refused: { none: 200, view: 200, edit: 200 },
		}),
	],
	purgeTrash: [made(trashed, 'own')],
	listVersions: [item('write', (place) => ({ params: { path: fileIn(place) }, query: { type: place.type } }))],
	restoreVersion: [
		made(oldVersion, 'write', (place, id) => ({ payload: { filePath: fileIn(place), type: place.type, id } })),
	],
	purgeVersion: [made(oldVersion, 'own')],

	generateTempLink: [item('own', (place) => ({ payload: { filePath: fileIn(place), expiration: '1h' } }))],
	temporaryDownload: [made(linkOf, 'bearer', (_, token) => ({ params: { token } }), { refused: 404 })],
	temporaryLinks: [account()],
	revokeLink: [made(linkIdOf, 'own')],
	setMembers: [
		item('own', ({ folder }) => ({ payload: { path: folder, members: [{ username: 'dora', role: 'edit' }] } })),
	],
	listMemberChanges: [account()],
	getMembers: [item('read', ({ type, folder }) => ({ query: { path: folder, type } }))],
	leaveFolder: [made(joined, 'member', (_, path) => ({ query: { path } }))],
	createShare: [item('own', (place) => ({ payload: { items: [{ path: fileIn(place) }], mode: 'view' } }))],
	listShares: [account()],
	listReceived: [account()],
	getShare: [made(shareOf, 'own')],
	changeShare: [made(shareOf, 'own', (_, id) => ({ params: { id }, payload: { isPaused: true } }))],
	deleteShare: [made(shareOf, 'own')],

	openShare: [share('open', () => ({ payload: { password } }))],
	lookAtShare: [share('look', () => ({}))],
	browseShare: [
		share('read', (folder) => ({ query: { directory: folder } })),
		share('read', (folder) => ({ query: { directory: folder, search: 'marker' } })),
	],
	downloadFromShare: [
		share('read', (folder) => ({ params: { path: `${folder}/${fileName}` } })),
		share('read', (folder) => ({ params: { path: folder } })),
	],
	shareEvents: [share('look', () => ({}))],
	makeShareTicket: [share('read', (folder) => ({ payload: { files: [{ path: folder }] } }))],
	shareThumbnail: [
		share('read', (folder) => ({ params: { path: `${folder}/${fileName}` }, query: { size: '256' } }), {
			allowed: 415,
		}),
	],
	createShareUpload: [share('send', () => tusRequest({ filename: 'sent.txt' }))],
	inspectShareUpload: [share('send', (_, id) => ({ method: 'HEAD', params: { id }, headers: tus }), { made: sentTo })],
	writeShareUpload: [share('send', (_, id) => ({ params: { id }, headers: chunk, payload: 'text' }), { made: sentTo })],
	removeShareUpload: [share('send', (_, id) => ({ params: { id }, headers: tus }), { made: sentTo })],

	changePassword: [
		account(
			() => ({
				payload: { currentPassword: 'wrong horse', newPassword: password, newPasswordConfirm: password },
			}),
			{ status: 401 },
		),
	],
	changeSettings: [account(() => ({ payload: { settings: { promptBeforeDownload: true } } }))],
	totp: [account()],
	startTotp: [account(() => ({ payload: {} }))],
	confirmTotp: [account(() => ({ payload: { code: '000000' } }), { status: 409 })],
	removeTotp: [account(() => ({ payload: {} }))],
	sessions: [account()],
	endSession: [account((id) => ({ params: { id } }), { made: sessionOf, status: 404 })],
	endOtherSessions: [account()],

	capabilities: [nobody()],
	health: [nobody()],
	ready: [nobody()],
	checkLoginStatus: [nobody()],
	login: [nobody(() => ({ payload: { username: 'nobody', password } }), 401)],
	register: [nobody(() => ({ payload: {} }), 400)],
	logout: [nobody()],
	uploadOptions: [nobody(() => ({ headers: tus }), 204)],
	uploadOptionsOfOne: [nobody(() => ({ params: { id: 'none' }, headers: tus }), 204)],
	shareUploadOptions: [nobody(() => ({ params: { token: 'none' }, headers: tus }), 204)],
	shareUploadOptionsOfOne: [nobody(() => ({ params: { token: 'none', id: 'none' }, headers: tus }), 204)],
};
