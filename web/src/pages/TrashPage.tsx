import { useSession } from '../api/session/useSession.js';
import { messages } from '../messages.js';
import { SignInNeeded } from './SignInNeeded.js';
import { TrashPageContent } from './TrashPageContent.js';

/** The trash of the signed-in user: `/trash`. */
export function TrashPage() {
	const session = useSession();
	if (session.status === 'signedOut') {
		return <SignInNeeded title={messages.signInToSeeTrash} hint={messages.signInToSeeTrashHint} />;
	}
	return <TrashPageContent username={session.status === 'signedIn' ? session.username : undefined} />;
}
