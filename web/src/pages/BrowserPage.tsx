import { browseDenial, defaultSettings, type Viewer, type VisitorAccess } from '@stowage/rules';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Navigate, useLocation, useNavigate, useSearchParams } from 'react-router';
import { capabilitiesQuery } from '../api/capabilities.js';
import { type Session, useSession } from '../api/session/useSession.js';
import { areaSource } from '../api/sources/areaSource.js';
import { FileSourceContext } from '../api/sources/FileSource.js';
import { LoadError } from '../features/files/folder/LoadError.js';
import { hrefOf, parseLocation } from '../features/files/location/location.js';
import { messages } from '../messages.js';
import { useIsPageHeld, useIsTyping } from '../ui/unsavedWork.js';
import styles from './BrowserPage.module.css';
import { BrowserPageFolder } from './BrowserPageFolder.js';
import { SignInNeeded } from './SignInNeeded.js';
import { useUserGeneration } from './useUserGeneration.js';

/** The file browser: `/browser` and everything below it. The frame around it has the header and the account dialogs. */
export function BrowserPage() {
	const { pathname, state } = useLocation() as { pathname: string; state: { wanted?: string } | null };
	const [query] = useSearchParams();
	const navigate = useNavigate();
	const session = useSession();
	const { data: capabilities, isFetched } = useQuery(capabilitiesQuery);
	const access = capabilities?.visitors ?? 'upload';
	const viewer = useMemo(() => viewerOf(session, access), [session, access]);
	const isSessionChecked = session.status === 'signedIn' || (session.status === 'signedOut' && isFetched);
	const isHeld = useIsPageHeld();
	// What is typed is for the files of its user only.
	const { generation, user } = useUserGeneration(isHeld);
	const isKept = useIsTyping() || isHeld;
	const location = useMemo(() => parseLocation(pathname, query), [pathname, query]);
	const area = location?.area ?? 'public';
	// A page that is kept shows no other files meanwhile: those of a visitor on the same path are public.
	const isWaiting = isKept && area !== 'public' && session.status === 'signedOut';
	const isSignedIn = isSessionChecked && !isWaiting ? viewer.kind === 'user' : undefined;
	const source = useMemo(() => areaSource(area, isSignedIn), [area, isSignedIn]);

	if (!location) {
		return (
			<div className={styles.page}>
				<LoadError error={undefined} onRetry={() => navigate(0)} onHome={() => navigate('/browser')} />
			</div>
		);
	}
	// What is being edited or typed stays, and can be saved once its user has signed in again.
	if (!isKept && location.area === 'private' && session.status === 'signedOut') {
		const wanted = session.isAssumed ? { wanted: hrefOf(location) } : null;
		return <Navigate replace to={hrefOf({ ...location, area: 'public' })} state={wanted} />;
	}
	// The server has answered meanwhile.
	if (state?.wanted !== undefined && isAnswered(session))
		return <Navigate replace to={session.status === 'signedIn' ? state.wanted : hrefOf(location)} />;
	if (!isKept && isSessionChecked && browseDenial(viewer, location.area)) {
		const hint = location.area === 'shared' ? messages.signInToSeeSharedHint : messages.signInToSeeHint;
		return <SignInNeeded title={messages.signInToSee} hint={hint} />;
	}
	return (
		<FileSourceContext value={source}>
			<BrowserPageFolder
				key={generation}
				location={location}
				viewer={viewer}
				user={user}
				isSessionChecked={isSessionChecked}
				settings={session.status === 'signedIn' ? session.settings : defaultSettings}
			/>
		</FileSourceContext>
	);
}

const isAnswered = (session: Session) =>
	session.status === 'signedIn' || (session.status === 'signedOut' && !session.isAssumed);

/** The rules identify users by name; the page does not know their ids. */
function viewerOf(session: Session, access: VisitorAccess): Viewer {
	if (session.status !== 'signedIn') return { kind: 'anonymous', access };
	return { kind: 'user', id: session.username, username: session.username };
}
