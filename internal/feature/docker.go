package feature

import "context"

// docker is present when its engine answers; the client alone carries no
// containers.
var docker = tool{
	name:    ToolDocker,
	enables: "functions in Docker containers",
	command: run("docker", "version", "--format", "{{.Server.Version}}"),
	version: match(`^\s*(\d+\.\S+)\s*$`),
	debian:  "docker.io",
}

func askDocker(ctx context.Context, env Env) answer {
	a := docker.ask(ctx, env)
	if _, err := env.look(docker.program); !a.present && err == nil {
		a.fix = "systemctl start docker, and be root or in the group docker"
	}
	return a
}
