// A real OpenID provider for the browser tests: any name signs in with any password. Prints its address.
// The port, the address to return to and the groups come as arguments.
import Provider from "oidc-provider";

const [port, redirectUri, groups] = process.argv.slice(2);
const issuer = `http://localhost:${port}`;

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: "sandtable",
      client_secret: "a-secret-of-the-tests",
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code"],
      response_types: ["code"],
    },
  ],
  claims: {
    openid: ["sub"],
    profile: ["preferred_username", "groups"],
    email: ["email"],
  },
  pkce: { required: () => true },
  cookies: { keys: ["a key of the tests"] },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, preferred_username: id, email: `${id}@example.org`, groups: groups.split(",") }),
  }),
});

provider.listen(Number(port), "127.0.0.1", () => console.log(issuer));
