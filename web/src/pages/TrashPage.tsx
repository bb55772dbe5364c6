import { useSession } from '../api/session/useSession.js';
import { messages } from '../messages.js';
import { SignInNeeded } from './SignInNeeded.js';
import { TrashPageContent } from './TrashPageContent.js';
import { useUserGeneration } from './useUserGeneration.js';

/** The trash of the signed-in user: `/trash`. */
export function TrashPage() {
	const session = useSession();
	const { generation } = useUserGeneration();
	if (session.status === 'signedOut') {
		return <SignInNeeded title={messages.signInToSeeTrash} hint={messages.signInToSeeTrashHint} />;
	}
	return <TrashPageContent key={generation} username={session.status === 'signedIn' ? session.username : undefined} />;
}
