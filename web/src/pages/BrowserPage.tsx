import { defaultSettings, type Viewer } from '@stowage/rules';
import { useMemo } from 'react';
import { Navigate, useLocation, useNavigate, useSearchParams } from 'react-router';
import { type Session, useSession } from '../api/session/useSession.js';
import { LoadError } from '../features/files/folder/LoadError.js';
import { hrefOf, parseLocation } from '../features/files/location/location.js';
import styles from './BrowserPage.module.css';
import { BrowserPageFolder } from './BrowserPageFolder.js';

/** The file browser: `/browser` and everything below it. The frame around it has the header and the account dialogs. */
export function BrowserPage() {
	const { pathname } = useLocation();
	const [query] = useSearchParams();
	const navigate = useNavigate();
	const session = useSession();
	const viewer = useMemo(() => viewerOf(session), [session]);
	const location = useMemo(() => parseLocation(pathname, query), [pathname, query]);

	if (!location) {
		return (
			<div className={styles.page}>
				<LoadError error={undefined} onRetry={() => navigate(0)} onHome={() => navigate('/browser')} />
			</div>
		);
	}
	if (location.area === 'private' && session.status === 'signedOut') {
		return <Navigate replace to={hrefOf({ ...location, area: 'public' })} />;
	}
	return (
		<BrowserPageFolder
			location={location}
			viewer={viewer}
			isKnown={session.status !== 'unknown'}
			settings={session.status === 'signedIn' ? session.settings : defaultSettings}
		/>
	);
}

/** The rules identify users by name; the page does not know their ids. */
function viewerOf(session: Session): Viewer {
	if (session.status !== 'signedIn') return { kind: 'anonymous' };
	return { kind: 'user', id: session.username, username: session.username };
}
