import { logout } from '@stowage/contract';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Suspense, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Outlet, useLocation, useNavigate } from 'react-router';
import { capabilitiesQuery } from '../api/capabilities.js';
import { call } from '../api/client/client.js';
import { sessionQuery } from '../api/session/sessionQuery.js';
import { useSession } from '../api/session/useSession.js';
import type { AuthMode } from '../features/account/authForm.js';
import { UndoProvider } from '../features/files/undo/UndoProvider.js';
import { UploadQueueProvider } from '../features/uploadQueue/UploadQueueProvider.js';
import { useUploadQueue, useUploadQueueView } from '../features/uploadQueue/useUploadQueue.js';
import { messages } from '../messages.js';
import { FrameContext, type Frame as FrameServices } from '../ui/frame.js';
import { AppHeader, focusAccount } from '../ui/header/AppHeader.js';
import { focusPage } from '../ui/keyboard/keptFocus.js';
import { lazyComponent } from '../ui/lazyComponent.js';
import { useNotify } from '../ui/notifications/useNotify.js';
import { useDropGuard } from '../ui/useDropGuard.js';
import styles from './Frame.module.css';
import { PageErrorBoundary } from './PageErrorBoundary.js';

const AuthDialog = lazyComponent(async () => (await import('../features/account/AuthDialog.js')).AuthDialog);
const SettingsDialog = lazyComponent(
	async () => (await import('../features/settings/SettingsDialog.js')).SettingsDialog,
);
const ActivityButton = lazyComponent(
	async () => (await import('../features/activity/ActivityButton.js')).ActivityButton,
);
const ActivityDialog = lazyComponent(
	async () => (await import('../features/activity/ActivityDialog.js')).ActivityDialog,
);
const MyLinksDialog = lazyComponent(async () => (await import('../features/links/MyLinksDialog.js')).MyLinksDialog);

// It comes with the queue. Imported at once, it would have the page of a share load more of what dialogs need.
const UploadQueueDialog = lazyComponent(
	async () => (await import('../features/uploadQueue/view/UploadQueueDialog.js')).UploadQueueDialog,
);

type OpenDialog =
	| { kind: 'none' }
	| { kind: 'auth'; mode: AuthMode }
	| { kind: 'settings' }
	| { kind: 'links' }
	| { kind: 'activity' };

/**
 * Surrounds every page but that of a share: the header, the dialogs that can be opened from anywhere, and what
 * outlives a page: the upload queue, with its progress, and what can be undone.
 */
export function Frame() {
	return (
		<UndoProvider>
			<UploadQueueProvider>
				<FramedPage />
			</UploadQueueProvider>
		</UndoProvider>
	);
}

function FramedPage() {
	const navigate = useNavigate();
	const { pathname, search } = useLocation();
	const queryClient = useQueryClient();
	const session = useSession();
	const capabilities = useQuery(capabilitiesQuery);
	const { notify } = useNotify();
	const queue = useUploadQueue();
	useDropGuard();
	const { items } = useUploadQueueView();
	/** Its code could not be fetched, which is tried again on another page, and for other files. */
	const [isQueueLost, setQueueLost] = useState(false);
	const [dialog, setDialog] = useState<OpenDialog>({ kind: 'none' });
	// The last dialog stays mounted while it fades out.
	const [shown, setShown] = useState<OpenDialog>(dialog);
	if (dialog.kind !== 'none' && dialog !== shown) setShown(dialog);
	const user = session.status === 'signedIn' ? session.username : undefined;
	const [userBefore, setUserBefore] = useState(user);
	if (user !== userBefore) {
		// A dialog that has gone with its user would open by itself when somebody signs in.
		setUserBefore(user);
		if (dialog.kind !== 'auth') setDialog({ kind: 'none' });
		if (shown.kind !== 'auth') setShown({ kind: 'none' });
	}

	const frame = useMemo<FrameServices>(
		() => ({
			openSignIn: () => setDialog({ kind: 'auth', mode: 'login' }),
			openSignUp: () => setDialog({ kind: 'auth', mode: 'register' }),
			openSettings: () => setDialog({ kind: 'settings' }),
			openLinks: () => setDialog({ kind: 'links' }),
			openActivity: () => setDialog({ kind: 'activity' }),
		}),
		[],
	);
	const close = useCallback(() => setDialog({ kind: 'none' }), []);
	const closeFailed = useCallback(() => {
		setDialog({ kind: 'none' });
		setShown({ kind: 'none' });
	}, []);

	const hasLoggedOut = useRef(false);
	const logoutMutation = useMutation({
		mutationFn: (_username: string) => call(logout),
		onSuccess: (_, username) => {
			hasLoggedOut.current = true;
			queryClient.setQueryData(sessionQuery.queryKey, {
				isLoggedIn: false,
				username: null,
				settings: null,
				quota: null,
			});
			queue.signedOut(username);
		},
		onError(error) {
			notify({ intent: 'danger', message: messages.logoutFailed, detail: error.message });
			// The answer may have been lost, and the session have ended.
			void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
		},
	});

	const statusBefore = useRef(session.status);
	useEffect(() => {
		const hasEnded = statusBefore.current === 'signedIn' && session.status === 'signedOut';
		statusBefore.current = session.status;
		// Private files disappear from the page, which would look like a loss.
		if (hasEnded && !hasLoggedOut.current)
			notify({ intent: 'warning', message: messages.signedOut, detail: messages.signedOutHint });
		if (hasEnded) hasLoggedOut.current = false;
	}, [session.status, notify]);

	const isBrowser = pathname === '/browser' || pathname.startsWith('/browser/');
	const type = new URLSearchParams(search).get('type');
	const area = type === 'private' ? 'private' : type === 'shared' ? undefined : 'public';
	const isRegistrationOpen = capabilities.data?.registration !== 'closed';
	// A visitor's buttons are shown at once, when it is known whether registration is open.
	const isVisitor = session.status === 'signedOut' && capabilities.isFetched;
	const username = session.status === 'signedIn' ? session.username : isVisitor ? null : undefined;

	return (
		<FrameContext value={frame}>
			<button type="button" className={styles.skip} onClick={() => document.getElementById('content')?.focus()}>
				{messages.skipToContent}
			</button>
			<AppHeader
				username={username}
				area={isBrowser ? area : undefined}
				isRegistrationOpen={isRegistrationOpen}
				isPublicShown={session.status === 'signedIn' || capabilities.data?.visitors !== 'off'}
				onArea={(target) => navigate(`/browser?type=${target}`)}
				onSignIn={frame.openSignIn}
				onSignUp={frame.openSignUp}
				onTrash={capabilities.data?.trashKeepFor ? () => navigate('/trash') : undefined}
				onSettings={frame.openSettings}
				onLinks={frame.openLinks}
				onActivity={frame.openActivity}
				onLogout={() => session.status === 'signedIn' && logoutMutation.mutate(session.username)}
			>
				{session.status === 'signedIn' && <ActivityButton username={session.username} onClick={frame.openActivity} />}
			</AppHeader>
			<main id="content" className={styles.main} tabIndex={-1}>
				<PageErrorBoundary key={isBrowser ? 'browser' : pathname}>
					<Suspense>
						<Outlet />
					</Suspense>
				</PageErrorBoundary>
			</main>
			{/* The landing page has the queue in itself. */}
			{pathname !== '/' && (
				<UploadQueueDialog
					key={isQueueLost ? `${pathname} ${items.length}` : undefined}
					onClosed={focusPage}
					onLoadFailed={() => setQueueLost(true)}
					isFailureReported={items.length > 0}
				/>
			)}
			{shown.kind === 'auth' && (
				<AuthDialog
					isOpen={dialog.kind === 'auth'}
					onLoadFailed={closeFailed}
					mode={shown.mode}
					isRegistrationOpen={isRegistrationOpen}
					onMode={(mode) => setDialog({ kind: 'auth', mode })}
					onClose={close}
					onClosed={focusAccount}
					onSignedIn={() => {
						queue.signedIn();
						close();
					}}
				/>
			)}
			{shown.kind === 'settings' && session.status === 'signedIn' && (
				<SettingsDialog
					key={session.username}
					isOpen={dialog.kind === 'settings'}
					onLoadFailed={closeFailed}
					username={session.username}
					settings={session.settings}
					onClose={close}
				/>
			)}
			{shown.kind === 'links' && session.status === 'signedIn' && (
				<MyLinksDialog
					key={session.username}
					isOpen={dialog.kind === 'links'}
					onLoadFailed={closeFailed}
					onClose={close}
				/>
			)}
			{shown.kind === 'activity' && session.status === 'signedIn' && (
				<ActivityDialog
					key={session.username}
					isOpen={dialog.kind === 'activity'}
					onLoadFailed={closeFailed}
					username={session.username}
					onClose={close}
					onClosed={focusAccount}
				/>
			)}
		</FrameContext>
	);
}
