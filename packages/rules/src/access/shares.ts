/** What whoever has the address of a share may do: look at its items and download them, send files into its folder, or both. */
export const shareModes = ['view', 'upload', 'both'] as const;
export type ShareMode = (typeof shareModes)[number];

/** How a share stands: only an active one answers. */
export const shareStates = ['active', 'paused', 'expired', 'used', 'gone'] as const;
export type ShareState = (typeof shareStates)[number];

/** What a member of a folder may do in it: look at it and copy from it, or change it as well. */
export const memberRoles = ['view', 'edit'] as const;
export type MemberRole = (typeof memberRoles)[number];

/** The most members of one folder. */
export const maxMembers = 1_000;

export const maxSharedItems = 1_000;
export const shareTextLength = { title: 200, message: 5_000 } as const;
